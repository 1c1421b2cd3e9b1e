#pragma once

#include "layout.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <filesystem>
#include <vector>

namespace sabath::cache {

// Names in an attempt's folder.
inline constexpr const char* attempt_data = "data";
inline constexpr const char* attempt_journal = "journal";
inline constexpr const char* attempt_tree = "tree";
inline constexpr const char* attempt_tree_journal = "files";

/// An attempt at a task, with its own folder partial/<key>/<owner>.<random>. The name says which
/// process owns it, so one rename takes it over, which only one process can win. The destructor
/// removes the folder unless it was left. An attempt that was taken over is left again unless
/// `discard_at_end` was called.
class Attempt {
 public:
  /// Throws Error{storage}.
  Attempt(const Layout& layout,
          const std::filesystem::path& key_folder,
          const base::ProcessIdentity& self);
  ~Attempt();
  Attempt(Attempt&& other) noexcept;
  Attempt& operator=(Attempt&&) = delete;
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// All changes in the folder go through this.
  const base::Beneath& beneath() const noexcept { return own_; }
  /// Leaves the folder to the next attempt, now.
  void leave() noexcept;
  void discard_at_end() noexcept { keeps_ = false; }

  /// Takes over every attempt that was left, or whose process is provably gone.
  static std::vector<Attempt> take_orphans(const Layout& layout,
                                           const std::filesystem::path& key_folder,
                                           const base::ProcessIdentity& self);

 private:
  /// For an attempt that was taken over.
  Attempt(const Layout& layout, std::filesystem::path folder);

  base::Beneath cache_;
  std::filesystem::path folder_;
  base::Directory key_folder_;  ///< open, so that leaving needs no descriptor
  base::Beneath own_;           ///< of the folder, which no path leads away from
  bool keeps_ = false;
};

}  // namespace sabath::cache

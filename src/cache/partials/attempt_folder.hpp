#pragma once

#include "layout.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace sabath::cache {

// Names in an attempt's folder.
inline constexpr const char* attempt_data = "data";
inline constexpr const char* attempt_journal = "journal";
inline constexpr const char* attempt_tree = "tree";
inline constexpr const char* attempt_tree_journal = "files";
inline constexpr const char* attempt_key = "key";  ///< the key: others can exchange key folders

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
  void remove() noexcept;

  base::Beneath cache_;
  std::filesystem::path folder_;
  base::Directory key_folder_;  ///< open, so that leaving needs no descriptor
  base::Beneath own_;           ///< of the folder, which no path leads away from
  bool keeps_ = false;
};

// The folders of an attempt in which tools write files themselves.
inline constexpr const char* borrowed_file_name = "data";

std::filesystem::path borrowed_folder(const std::filesystem::path& attempt,
                                      std::string_view borrower);
/// Returns the folders that are not empty.
std::vector<std::filesystem::path> borrowed_folders(const std::filesystem::path& attempt);
/// Says whether there are any, or the attempt's folder is unreadable.
bool may_have_borrowed_folders(const std::filesystem::path& attempt);
/// Moves the borrowers' folders from the attempt's folder `from` to `to`; those of `to` stay.
void move_borrowed_folders(const base::Beneath& beneath,
                           const std::filesystem::path& from,
                           const std::filesystem::path& to);
/// Bytes of the visible files beneath a folder.
std::uint64_t bytes_beneath(const std::filesystem::path& folder);

}  // namespace sabath::cache

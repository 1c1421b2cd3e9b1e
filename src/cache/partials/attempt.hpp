#pragma once

#include "layout.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <filesystem>
#include <vector>

namespace sabath::cache {

/// One attempt at something, with a folder of its own: partial/<key>/<owner>.<random>. The folder's
/// name says which process owns it, so taking one over is a single rename, which just one taker can
/// win. The folder is removed at the end unless it was left. One that was taken over is left again
/// unless `discard_at_end` was called: who cannot go on with it just now leaves it for later.
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
  /// All changes of what lies in the folder go through this.
  const base::Beneath& beneath() const noexcept { return own_; }
  /// Leaves the folder to whoever wants it, now.
  void leave() noexcept;
  void discard_at_end() noexcept { keeps_ = false; }

  /// Takes over every attempt that was left or whose process is provably gone.
  static std::vector<Attempt> take_orphans(const Layout& layout,
                                           const std::filesystem::path& key_folder,
                                           const base::ProcessIdentity& self);

 private:
  /// One that was taken over.
  Attempt(const Layout& layout, std::filesystem::path folder);

  base::Beneath cache_;
  std::filesystem::path folder_;
  base::Directory key_folder_;  ///< open, so that leaving needs no descriptor
  base::Beneath own_;           ///< of the folder, which no path leads away from
  bool keeps_ = false;
};

}  // namespace sabath::cache

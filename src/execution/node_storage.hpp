#pragma once

#include "attempt_lease.hpp"
#include "execution_context.hpp"
#include "stage_in/node_copies.hpp"
#include "stage_in/node_staging.hpp"

#include <sabath/base/unique_fd.hpp>

#include <filesystem>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::execution {

/// "FOLDER: No space left on device" where no space or no inode is left, else nothing.
std::string disk_problem(const std::filesystem::path& folder);

/// Holds room for what is written at the end of a run: a file without a name, which is gone with
/// this object or its process. A disk that fills up meanwhile then does not take the record. Holds
/// nothing where the file system has no such files.
class SpaceReserve {
 public:
  explicit SpaceReserve(const std::filesystem::path& folder);
  void free() { file_.reset(); }
  /// Makes the file `path` of room that is held all the time. Returns false where none is, or where
  /// the text is too long. Replaces nothing: returns false, too.
  bool write(const std::filesystem::path& path, std::string_view text);

 private:
  base::UniqueFd record_;
  base::UniqueFd file_;
};

/// What a run holds on the nodes that execute it: copies, scratch directories, reserved space.
class NodeStorage {
 public:
  NodeStorage(ExecutionContext& context, AttemptLease& lease) : context_(context), lease_(lease) {}

  void reserve_space() { reserve_.emplace(context_.files.directory()); }
  /// Frees the reserved space. Returns what is wrong with the disk; empty: nothing.
  std::string free_space();
  /// Writes the record of a run where its disk has no room for it (SpaceReserve::write).
  bool write_held(const std::filesystem::path& path, std::string_view text) {
    return reserve_ && reserve_->write(path, text);
  }
  /// Copies inputs and environments to this node where the site has a disk for its jobs. Warns and
  /// continues where that fails. Throws Error{interrupted}.
  void stage_in(const std::stop_token& stop);
  /// Copies to the nodes of ranks. What starts ranks may belong to an environment, so this waits
  /// for `trust`; the stage reports an environment that is not trusted.
  void copy_to_nodes(const std::shared_future<void>& trust, const std::stop_token& stop);
  /// Returns the images that are used in place of prefixes.
  std::vector<env::LocalPrefix> local_prefixes(const std::stop_token& stop) const;
  /// Returns the scratch directory; empty: none.
  std::filesystem::path scratch() const {
    return scratch_ ? scratch_->path() : std::filesystem::path();
  }
  /// Gives the copies back.
  void release();

 private:
  void make_copies(const base::Environment& own, const std::stop_token& stop);

  ExecutionContext& context_;
  AttemptLease& lease_;
  std::optional<SpaceReserve> reserve_{};
  std::optional<ScratchFolder> scratch_{};
  std::optional<NodeCopies> node_copies_{};
  std::vector<HeldCopy> copies_{};
};

}  // namespace sabath::execution

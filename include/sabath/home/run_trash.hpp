#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/disk_use.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/home/folders.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::home {

/// Time after which `cache gc` clears what lies in the trash.
inline constexpr std::chrono::hours kept_in_trash(30 * 24);

/// One removal: a folder HOME/trash/rm-<time>-<letters> with the runs that it moved there.
struct Removal {
  std::string name{};  ///< of the folder
  std::string at{};
  std::string by{};
  std::vector<std::string> runs{};  ///< that lie there now, sorted
  std::filesystem::path folder{};
};

/// Moves runs of this home, and archived ones, to the trash by renames. A killed call leaves each
/// run where it was or in the trash, and the next index_inbox brings the catalog up to date.
/// Returns the runs that were moved; leaves no folder where none was. Throws Error{storage} that
/// names the runs that were moved before, also where others could exchange what is in the trash,
/// and where it lies on another file system.
Removal move_to_trash(const Folders& folders,
                      const std::vector<std::string>& ids,
                      base::Clock& clock,
                      base::Observer& observer);

/// Returns what lies in the trash, oldest first, also removals without runs. `at` and `by` are
/// "unknown" where the facts of one are damaged or missing. Throws Error{storage} for a trash that
/// others can write to, and for one that cannot be read.
std::vector<Removal> removals(const Folders& folders);

/// Returns the removal that has the run of this id, or the one whose id begins so; and that run.
/// Returns nothing where none or several have it.
std::optional<std::pair<Removal, std::string>> find_trashed(const Folders& folders,
                                                            const std::string& id);

/// Moves runs of a removal back to where they were, and removes its folder when nothing is left in
/// it. Returns those that were moved. Throws Error{storage} that names them, also where a run of
/// that id is there again.
std::vector<std::string> bring_back(const Folders& folders,
                                    const Removal& removal,
                                    const std::vector<std::string>& ids,
                                    base::Observer& observer);

/// A removal that was cleared, and the space that it took.
struct ClearedRemoval {
  Removal removal{};
  base::DiskUse use{};
};

/// Removes for good what has lain in the trash for longer than `kept_in_trash`, and what a killed
/// call left. Runs whose removal has damaged facts stay. With `dry_run` only
/// says what. Warns of what it may not remove.
std::vector<ClearedRemoval> clear_trash(const Folders& folders,
                                        base::WallTime now,
                                        bool dry_run,
                                        base::Observer& observer);

/// The folders of a home that have run folders: runs/, archive/, and those of the trash. Throws
/// Error{storage} for a trash that cannot be read.
std::vector<std::filesystem::path> folders_of_runs(const Folders& folders);

}  // namespace sabath::home

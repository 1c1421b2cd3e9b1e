#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/home/batch_files.hpp>

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <vector>

namespace sabath::home {

// A batch for nodes that see no file of ours: what its runs need goes there with the job, and what
// they have become comes back.

/// What goes there with each job.
struct Bundle {
  std::filesystem::path archive{};              ///< jobs/<n>/bundle.tar.gz
  std::vector<std::filesystem::path> inputs{};  ///< of the data sets, as they lie in the cache
};

/// Writes the archive: the batch, the plans and states of its runs, the recipe's folder, and where
/// all that was. Throws Error{usage} for runs whose environment is in a cache that the node does
/// not see, or whose inputs have one name; Error{storage}.
Bundle make_bundle(const BatchFiles& files, const spec::BatchPlan& plan);

/// Unpacks it in `here`, where the inputs lie already: the task's runs in the folder that comes
/// back (so that it has what there is, however the job ends), with the paths in their plans as they
/// are there. What an earlier try left is removed. Returns the batch's folder. Throws
/// Error{usage|integrity|storage|interrupted}.
std::filesystem::path open_bundle(const std::filesystem::path& archive,
                                  std::size_t task,
                                  const std::filesystem::path& here,
                                  base::Observer& observer,
                                  const std::stop_token& stop);

/// "returned-<task>", what comes back; "{task}" for the index of any.
std::string returned_name(const std::string& task);

/// Takes what came back into the folders of the task's runs; false where nothing did. Two may do so
/// at once, and who is cut off is gone on with by the next. Left behind are links, what is of no
/// run of the task, a record of another run, and what was ours alone to write (the plan, jobs, the
/// code). Throws Error{storage}.
bool take_returned(const BatchFiles& files, const spec::BatchPlan& plan, std::size_t task);

}  // namespace sabath::home

#pragma once

#include <sabath/app/batch_files.hpp>
#include <sabath/base/observer.hpp>

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <vector>

namespace sabath::app {

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

/// Unpacks it as `here`/sabath (what is there is removed), with the paths in the plans of the
/// task's runs as they are there; inputs lie in `here`. Returns the batch's folder. Throws
/// Error{usage|integrity|storage|interrupted}.
std::filesystem::path open_bundle(const std::filesystem::path& archive,
                                  std::size_t task,
                                  const std::filesystem::path& here,
                                  base::Observer& observer,
                                  const std::stop_token& stop);

/// "returned-<task>"; "{task}" for the index of any.
std::string returned_name(const std::string& task);

/// Puts what the task's runs have become into the folder that comes back, without their plans.
void return_runs(const std::filesystem::path& batch,
                 std::size_t task,
                 const std::filesystem::path& returned);

/// Takes what came back into the folders of the task's runs; false where nothing did. Whoever is
/// cut off here is gone on with by the next. Links, and what is of no run of the task, are left
/// behind. Throws Error{storage}.
bool take_returned(const BatchFiles& files, const spec::BatchPlan& plan, std::size_t task);

}  // namespace sabath::app

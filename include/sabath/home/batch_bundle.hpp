#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <vector>

namespace sabath::home {

// Batches for nodes without a shared file system: the job carries the inputs of its runs there, and
// their results back.

/// Files that go to the node with each job.
struct Bundle {
  std::filesystem::path archive{};              ///< jobs/<n>/bundle.tar.gz
  std::vector<std::filesystem::path> inputs{};  ///< files of the data sets in the cache
};

/// Writes the archive: the batch, the plans and states of its runs, the recipe's folder, and the
/// original paths. Throws Error{usage} for runs whose environment lies in a cache that the node
/// cannot see, or whose inputs share a name; Error{storage}.
Bundle make_bundle(const BatchFiles& files, const spec::BatchPlan& plan);

/// Unpacks it in `here`, beside the inputs. The task's runs go to the folder that is returned, so
/// that it has the results however the job ends; the paths in their plans are adapted. Removes what
/// an earlier try left. Returns the batch's folder. Throws
/// Error{usage|integrity|storage|interrupted}.
std::filesystem::path open_bundle(const std::filesystem::path& archive,
                                  std::size_t task,
                                  const std::filesystem::path& here,
                                  base::Observer& observer,
                                  const std::stop_token& stop);

/// "returned-<task>", the folder that comes back; "{task}" for the index of any.
std::string returned_name(const std::string& task);

/// Moves returned files into the folders of the task's runs. Returns false if nothing was returned.
/// Two processes may do so at once, and the next call completes an interrupted one. Takes only what
/// a node makes: attempts, outputs and their trees, the series, the status and the record. Leaves
/// links, files of no run of the task, and a record that says something else than the plan. Throws
/// Error{storage}.
bool take_returned(const BatchFiles& files, const spec::BatchPlan& plan, std::size_t task);

/// Whether a record says what was planned, in all that a repetition executes, and has stages and
/// outputs of the plan alone. Nobody trusts a node to say what was to be done.
bool is_as_planned(const spec::RunRecord& record, const spec::RunPlan& plan);

/// Whether the files of a run went to a node and came back: what its record says of the node's
/// session is not this user's word.
bool has_travelled(const std::filesystem::path& run_directory, const spec::RunPlan& plan);

}  // namespace sabath::home

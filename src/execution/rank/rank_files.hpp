#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::execution {

/// What a rank is told by the `exec` that had it started, in variables, and the file for those that
/// a prefix loses on the way to other nodes.
inline constexpr const char* executor_variable = "SABATH_EXECUTOR";  ///< ProcessIdentity
inline constexpr const char* executor_node_variable = "SABATH_EXECUTOR_NODE";
inline constexpr const char* ranks_variable = "SABATH_RANKS_ON_NODE";  ///< to be started by one
inline constexpr const char* world_variable = "SABATH_RANKS";
inline constexpr const char* master_variable = "SABATH_MASTER";  ///< HOST:PORT
inline constexpr const char* stage_folder_variable = "SABATH_METRICS_DIR";

/// Variables for the ranks of a stage of so many tasks.
base::Environment rank_variables(const planning::ParallelPrefix& prefix, int tasks);

/// Keeps the variables of a stage where its ranks find them, for this user alone and as long as
/// this lives: secrets may be among them.
class KeptVariables {
 public:
  KeptVariables(const std::filesystem::path& stage_folder, const base::Environment& variables);
  ~KeptVariables();
  KeptVariables(const KeptVariables&) = delete;
  KeptVariables& operator=(const KeptVariables&) = delete;

 private:
  std::filesystem::path file_;
};
/// Those that were kept, without what only the starter of this rank can know.
base::Environment kept_variables(const std::filesystem::path& stage_folder);

std::filesystem::path node_file(const std::filesystem::path& stage_folder, const std::string& node);

/// Takes what ranks of `stages` wrote about their nodes into the record, whose own use is that of
/// `exec`'s node in so many seconds. What cannot be read is left out.
void take_nodes(const std::filesystem::path& attempt,
                const std::vector<std::string>& stages,
                double seconds,
                spec::RunRecord& record);

}  // namespace sabath::execution

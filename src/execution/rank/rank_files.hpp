#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/planning/parallel_prefix.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::execution {

/// Variables by which `exec` informs the ranks that it had started, and the file for variables that
/// a prefix loses on the way to other nodes.
inline constexpr const char* executor_variable = "SABATH_EXECUTOR";  ///< ProcessIdentity
inline constexpr const char* executor_node_variable = "SABATH_EXECUTOR_NODE";
inline constexpr const char* ranks_variable = "SABATH_RANKS_ON_NODE";  ///< to be started by one
inline constexpr const char* world_variable = "SABATH_RANKS";
inline constexpr const char* master_variable = "SABATH_MASTER";  ///< HOST:PORT
inline constexpr const char* stage_folder_variable = "SABATH_METRICS_DIR";

/// Returns variables for the ranks of a stage of `tasks` tasks.
base::Environment rank_variables(const planning::ParallelPrefix& prefix, int tasks);

/// Keeps the variables of a stage where its ranks find them, for this user alone and as long as
/// this lives: there may be secrets.
class KeptVariables {
 public:
  KeptVariables(const std::filesystem::path& stage_folder, const base::Environment& variables);
  ~KeptVariables();
  KeptVariables(const KeptVariables&) = delete;
  KeptVariables& operator=(const KeptVariables&) = delete;

 private:
  std::filesystem::path file_;
};
/// Returns the kept variables, without what only the starter of this rank can know.
base::Environment kept_variables(const std::filesystem::path& stage_folder);

std::filesystem::path node_file(const std::filesystem::path& stage_folder, const std::string& node);

/// Takes what ranks of `stages` wrote about their nodes into the record, whose own usage is that of
/// `exec`'s node over `seconds`. Leaves out what cannot be read.
void take_nodes(const std::filesystem::path& attempt,
                const std::vector<std::string>& stages,
                double seconds,
                spec::RunRecord& record);

}  // namespace sabath::execution

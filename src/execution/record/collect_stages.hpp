#pragma once

#include <sabath/collect/collect.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/stage_record.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// Metrics of some stages of a run.
struct CollectedStages {
  std::vector<spec::MetricSummary> metrics{};
  std::map<std::string, collect::Extraction> stages{};  ///< by stage
  std::vector<std::string> notes{};                     ///< on derived metrics

  /// Returns what was found beside metrics, over all stages. Secrets are redacted.
  spec::Collected collected() const;
  /// Returns what cannot be read in the structured sources of one stage, in one line; empty where
  /// everything can.
  std::string problem(const std::string& stage) const;
  /// Returns a note for each declared metric that was not found, with the places that were
  /// searched.
  std::vector<std::string> missing(const std::vector<spec::MetricSpec>& declared) const;
};

/// Returns a stage's directories in attempts before the one that executed it last, oldest first.
std::vector<std::filesystem::path> earlier_folders(const home::RunFiles& files,
                                                   int attempt,
                                                   const std::string& stage);

/// Returns the files of stages that the attempt executed; for stages that write checkpoints, with
/// what they continued from. A stop request ends reading. A request that came before leaves one
/// minute.
std::vector<collect::StageFiles> files_of(const std::vector<std::string>& stages,
                                          const spec::RunPlan& plan,
                                          const home::RunFiles& files,
                                          int attempt,
                                          const std::stop_token& stop);
/// Notes how many attempts a stage continued from.
void note_earlier(const std::vector<collect::StageFiles>& files, spec::StageRecord& stage);

/// Writes every point to the file `series`, which exists only if there are points.
CollectedStages collect_stages(const std::vector<collect::StageFiles>& stages,
                               const std::vector<spec::MetricSpec>& declared,
                               const std::filesystem::path& series);

}  // namespace sabath::execution

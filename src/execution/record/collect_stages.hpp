#pragma once

#include <sabath/collect/collect.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// The metrics of some stages of a run.
struct CollectedStages {
  std::vector<spec::MetricSummary> metrics{};
  std::map<std::string, collect::Extraction> stages{};  ///< by stage
  std::vector<std::string> notes{};                     ///< of metrics that follow from others

  /// What was found beside metrics, over all stages; secrets are redacted.
  spec::Collected collected() const;
  /// What cannot be read in one stage's structured sources, in one line; empty if nothing.
  std::string problem(const std::string& stage) const;
  /// What to tell of each declared metric that was not found, and where it was looked for.
  std::vector<std::string> missing(const std::vector<spec::MetricSpec>& declared) const;
};

/// The folders of a stage in the attempts before the one that executed it last, oldest first.
std::vector<std::filesystem::path> earlier_folders(const home::RunFiles& files,
                                                   int attempt,
                                                   const std::string& stage);

/// Of stages that the attempt executed; those that make checkpoints with what they went on from.
/// A stop request ends the reading of them; one that came before leaves a minute for it.
std::vector<collect::StageFiles> files_of(const std::vector<std::string>& stages,
                                          const spec::RunPlan& plan,
                                          const home::RunFiles& files,
                                          int attempt,
                                          const std::stop_token& stop);
/// How many attempts a stage went on from.
void note_earlier(const std::vector<collect::StageFiles>& files, spec::StageRecord& stage);

/// Gives every point to the file `series`, which is only there if there are any.
CollectedStages collect_stages(const std::vector<collect::StageFiles>& stages,
                               const std::vector<spec::MetricSpec>& declared,
                               const std::filesystem::path& series);

}  // namespace sabath::execution

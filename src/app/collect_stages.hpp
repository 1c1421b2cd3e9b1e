#pragma once

#include <sabath/collect/collect.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::app {

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

/// Gives every point to the file `series`, which is only there if there are any.
CollectedStages collect_stages(const std::vector<collect::StageFiles>& stages,
                               const std::vector<spec::MetricSpec>& declared,
                               const std::filesystem::path& series);

}  // namespace sabath::app

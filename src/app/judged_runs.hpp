#pragma once

#include <sabath/app/collect_run.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::app {

/// A complete run, as it is held against others.
struct JudgedRun {
  spec::BaselineRun run{};
  std::string directory{};
  double wall_s = 0;
  base::Digest recipe_digest{};
  std::string code{};         ///< digest of the facet
  std::string environment{};  ///< the same
  std::vector<spec::MetricSummary> metrics{};
};

/// Complete runs of one thing at one place, oldest first.
struct JudgedGroup {
  std::string recipe{};
  spec::BaselineKey key{};
  std::vector<JudgedRun> runs{};
  // as the newest has it:
  std::vector<spec::MetricSpec> declared{};
  std::optional<spec::Rung> require{};
  bool deterministic = false;
};

struct JudgedRuns {
  std::vector<JudgedGroup> groups{};
  std::vector<catalog::RunRow> others{};  ///< that did not come to a good end, or were imported
  std::vector<std::string> notes{};
};

/// Reads the runs' records. Those that only made an asset, or one stage, are told and left out.
/// Throws Error{usage} where a metric was found in another way in some of a group.
JudgedRuns judged_runs(const std::vector<catalog::RunRow>& rows);

/// One metric of a group's runs.
struct GroupMetric {
  std::string name{};  ///< "train/loss"
  spec::MetricSpec spec{};
  std::vector<std::optional<double>>
      values{};  ///< of performance the median; nothing: there is none
};

/// The declared metrics that some run has, and what is derived, by name.
std::vector<GroupMetric> metrics_of(const JudgedGroup& group);

/// The models of all hosts' GPUs, and how many there are of each; where there is none, the models
/// of their CPUs.
std::map<std::string, std::size_t> devices_of(const std::vector<spec::HostFacts>& hosts);

/// "loss" of "train/loss".
std::string bare_name(const std::string& name);

}  // namespace sabath::app

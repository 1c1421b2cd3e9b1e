#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

/// A complete run, as it is held against others.
struct JudgedRun {
  spec::BaselineRun run{};
  std::string directory{};
  double wall_s = 0;
  base::Digest recipe_digest{};
  std::string code{};         ///< digest of the facet
  std::string environment{};  ///< the same
  std::vector<spec::MetricSummary> metrics{};
  spec::WholeSummaries whole{};  ///< of them
  bool disturbed = false;        ///< it began on a machine that was not quiet
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
  /// That were requested and cannot be judged: they did not come to a good end, or were imported
  /// (these count nevertheless).
  std::vector<catalog::RunRow> others{};
  spec::RunCount count{};
  std::vector<std::string> notes{};
};

/// Reads the records of the runs that count. Notes list those that are left out for another reason
/// than their state. Throws Error{usage} where a metric was found in another way in some of a
/// group.
JudgedRuns judged_runs(const std::vector<catalog::RunRow>& rows,
                       const NamedRuns& named,
                       const catalog::Catalog& catalog);

/// One metric of a group's runs.
struct GroupMetric {
  std::string name{};  ///< "train/loss"
  spec::MetricSpec spec{};
  std::vector<std::optional<double>>
      values{};                      ///< of performance the median; nothing: there is none
  std::vector<std::string> whole{};  ///< as compare::RunValues has it
};

/// The declared metrics that some run has, and what is derived, by name.
std::vector<GroupMetric> metrics_of(const JudgedGroup& group);

/// The models of all hosts' GPUs, and how many there are of each; where there is none, the models
/// of their CPUs.
std::map<std::string, std::size_t> devices_of(const std::vector<spec::HostFacts>& hosts);

/// "loss" of "train/loss".
std::string bare_name(const std::string& name);

}  // namespace sabath::analysis

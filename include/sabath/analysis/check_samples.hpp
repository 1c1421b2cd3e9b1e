#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

/// A finished run prepared for a baseline check.
struct CheckSample {
  spec::BaselineRun run{};
  std::string placed{};  ///< as in catalog::RunRow
  std::string directory{};
  double wall_s = 0;
  base::Digest recipe_digest{};
  std::string code{};         ///< digest of the facet
  std::string environment{};  ///< the same
  std::vector<spec::MetricSummary> metrics{};
  spec::WholeSummaries whole{};         ///< of them
  bool disturbed = false;               ///< it began on a busy machine
  std::set<std::string> executed_by{};  ///< as spec::executed_by says
  std::set<std::string> outputs{};      ///< "stage/path" of those that were declared
};

/// Complete runs with one key, oldest first.
struct SampleGroup {
  std::string recipe{};
  spec::BaselineKey key{};
  std::vector<CheckSample> runs{};
  // of the newest run:
  std::vector<spec::MetricSpec> declared{};
  std::optional<spec::Rung> require{};
  bool deterministic = false;
};

struct CheckSamples {
  std::vector<SampleGroup> groups{};
  /// Requested runs that cannot be judged: they failed, or were imported (these count
  /// nevertheless).
  std::vector<catalog::RunRow> others{};
  spec::RunCount count{};
  std::vector<std::string> notes{};
};

/// Reads the records of the runs that count. Notes list those that are left out for another reason
/// than their state. Throws Error{usage} where runs of a group found a metric in different ways.
CheckSamples check_samples(const std::vector<catalog::RunRow>& rows,
                           const NamedRuns& named,
                           const catalog::Catalog& catalog);

/// Throws Error{usage} where a run found a metric in another way than `declared` says: such numbers
/// cannot be compared. `than` ends the message.
void require_same_sources(const std::vector<spec::MetricSpec>& declared,
                          const std::vector<spec::MetricSpec>& of_run,
                          const std::string& run_id,
                          const std::string& than);

/// One metric of a group's runs.
struct GroupMetric {
  std::string name{};  ///< "train/loss"
  spec::MetricSpec spec{};
  std::vector<std::optional<double>> values{};       ///< medians for performance; nothing: missing
  std::vector<std::string> whole{};                  ///< as in compare::RunValues
  std::vector<std::optional<std::string>> judges{};  ///< as in spec::MetricSummary, of each value
};

/// Declared metrics that some run has, and derived ones, by name.
std::vector<GroupMetric> metrics_of(const SampleGroup& group);

/// Models of the GPUs of all hosts, with their numbers; without GPUs the models of the CPUs.
std::map<std::string, std::size_t> devices_of(const std::vector<spec::HostFacts>& hosts);

/// "loss" of "train/loss".
std::string bare_name(const std::string& name);

}  // namespace sabath::analysis

#pragma once

#include <sabath/catalog/catalog.hpp>
#include <sabath/compare/group_input.hpp>
#include <sabath/compare/ranking.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sabath::analysis {

/// Returns the metric that `name` means, as NAME or as STAGE/NAME. `option` begins every message.
/// Throws Error{usage} for an unknown name, for a name of several stages, and for values that do
/// not belong together.
const compare::RunValues& named_metric(const std::vector<compare::RunValues>& metrics,
                                       const std::string& name,
                                       const std::string& option);

/// Throws Error{usage} for a metric without a direction.
void require_direction(const std::vector<compare::RunValues>& metrics,
                       const compare::RunValues& metric,
                       const std::string& option);

/// The sample that each run belongs to: its seed. A run without a known seed is a sample of its
/// own. So is each run where all have one seed and the metric is one of performance.
struct RunSamples {
  std::vector<std::uint32_t> of_run{};
  std::size_t without_seed = 0;  ///< runs
  bool one_seed = false;         ///< all runs have one, which is known
};
RunSamples samples_by_seed(const std::vector<catalog::RunRow>& runs, bool performance);

/// The finite values of a metric in some of the runs, and how many of these runs have none.
struct MetricSamples {
  compare::SampleMeans means{};
  std::size_t without = 0;
};
MetricSamples samples_of(const compare::RunValues& metric,
                         const RunSamples& samples,
                         const std::vector<std::size_t>& runs);

}  // namespace sabath::analysis

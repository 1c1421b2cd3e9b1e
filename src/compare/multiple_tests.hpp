#pragma once

#include <sabath/compare/group_input.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// The groups, and which of them each run is in.
struct Grouping {
  std::vector<spec::RunGroup> groups{};
  std::vector<std::size_t> of_run{};
  std::vector<std::uint64_t> samples{};  ///< of each group; repeats of a seed count once

  bool has_repeats() const {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (samples[g] < groups[g].runs) return true;
    }
    return false;
  }
};

/// The finite values of one metric, by group; the tests see these.
using Samples = std::vector<std::vector<double>>;

Grouping group_runs(const GroupsToCompare& request);

/// Repeats of a seed are one value: their mean.
Samples samples_of(const GroupsToCompare& request,
                   const Grouping& grouping,
                   const RunValues& metric);

/// The side that has one sample and is compared with several references. Nothing: both sides are
/// groups.
std::optional<std::size_t> single_side(const GroupsToCompare& request, const Grouping& grouping);

std::uint64_t without_value(const spec::MetricGroups& metric, std::uint64_t runs);

void set_verdict(spec::MetricGroups& metric, spec::Verdict verdict, std::string reason);

/// Judges the metrics with the indices `tested` by statistical tests. p values are adjusted (Holm)
/// over all of these metrics.
void judge_by_tests(const GroupsToCompare& request,
                    const Grouping& grouping,
                    const std::vector<std::size_t>& tested,
                    std::vector<spec::MetricGroups>& metrics);

}  // namespace sabath::compare

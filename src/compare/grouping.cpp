#include "multiple_tests.hpp"

#include <sabath/compare/sample.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace sabath::compare {
namespace {

void count_samples(const GroupsToCompare& request, Grouping& grouping) {
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  for (const spec::RunGroup& group : grouping.groups)
    grouping.samples.push_back(request.samples.empty() ? group.runs : 0);
  for (std::size_t run = 0; run < request.samples.size(); ++run) {
    const std::size_t own = grouping.of_run[run];
    if (seen.emplace(own, request.samples[run]).second) ++grouping.samples[own];
  }
}

}  // namespace

Grouping group_runs(const GroupsToCompare& request) {
  std::vector<std::size_t> order(request.runs);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (const NamedFactor& named : request.factors) {
      const std::vector<std::uint32_t>& levels = named.factor.levels;
      if (levels[a] != levels[b]) return levels[a] < levels[b] ? -1 : 1;
    }
    return 0;
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  Grouping grouping;
  grouping.of_run.resize(request.runs);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      spec::RunGroup& next = grouping.groups.emplace_back();
      for (const NamedFactor& named : request.factors)
        next.levels.push_back(named.names[named.factor.levels[order[i]]]);
    }
    ++grouping.groups.back().runs;
    grouping.of_run[order[i]] = grouping.groups.size() - 1;
  }
  count_samples(request, grouping);
  return grouping;
}

Samples samples_of(const GroupsToCompare& request,
                   const Grouping& grouping,
                   const RunValues& metric) {
  Samples values(grouping.groups.size());
  std::vector<std::vector<std::uint32_t>> numbers(request.samples.empty() ? 0 : values.size());
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run] || !std::isfinite(*metric.values[run])) continue;
    values[grouping.of_run[run]].push_back(*metric.values[run]);
    if (!numbers.empty()) numbers[grouping.of_run[run]].push_back(request.samples[run]);
  }
  for (std::size_t g = 0; g < numbers.size(); ++g)
    values[g] = mean_by_sample(values[g], numbers[g]);
  return values;
}

std::optional<std::size_t> single_side(const GroupsToCompare& request, const Grouping& grouping) {
  if (!request.two_sides || grouping.groups.size() != 2) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    if (grouping.samples[side] == 1 && grouping.samples[1 - side] > 1) return side;
  }
  return std::nullopt;
}

}  // namespace sabath::compare

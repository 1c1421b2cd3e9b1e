#include "group_values.hpp"

#include <sabath/analysis/check_samples.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/baseline_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using compare::RunValues;

constexpr std::size_t fewest_seeds = 10;

std::vector<std::string> names_of(const std::vector<RunValues>& metrics) {
  std::vector<std::string> names;
  for (const RunValues& metric : metrics) {
    if (!metric.judged) continue;
    names.push_back(metric.name);
    names.push_back(bare_name(metric.name));
  }
  return names;
}

void refuse_unknown(const GroupsRequest& request, const std::vector<RunValues>& metrics) {
  const std::vector<std::string> names = names_of(metrics);
  for (const auto& [name, margin] : request.margins) {
    if (name.empty() || std::ranges::find(names, name) != names.end()) continue;
    throw Error(ErrorKind::usage,
                "--margin '" + base::printable(name) + "': no metric that is judged is called so",
                base::did_you_mean(name, names));
  }
}

std::optional<double> named(const GroupsRequest& request, const RunValues& metric) {
  for (const std::string& name : {metric.name, bare_name(metric.name)}) {
    const auto found = request.margins.find(name);
    if (found != request.margins.end()) return found->second;
  }
  return std::nullopt;
}

void set_requested(const GroupsRequest& request, std::vector<RunValues>& metrics) {
  refuse_unknown(request, metrics);
  const auto of_all = request.margins.find("");
  const RunValues* first = nullptr;
  for (RunValues& metric : metrics) {
    if (!metric.judged) continue;
    if (const auto own = named(request, metric)) {
      metric.margin = own;
    } else if (of_all == request.margins.end()) {
      continue;
    } else if (first != nullptr && first->unit != metric.unit) {
      throw Error(ErrorKind::usage,
                  fmt::format("--margin {}: {} and {} have different units",
                              of_all->second,
                              first->name,
                              metric.name),
                  fmt::format("such as '--margin {}={}'", metric.name, of_all->second));
    } else {
      metric.margin = of_all->second;
      first = &metric;
    }
    metric.margin_from = "--margin";
  }
}

/// Each run without a known seed counts for itself.
std::size_t seeds_of(const spec::BaselineEntry& entry) {
  std::multiset<std::optional<std::uint64_t>> seeds;
  for (const spec::BaselineRun& run : entry.runs) {
    if (!run.seed || !seeds.contains(run.seed)) seeds.insert(run.seed);
  }
  return seeds.size();
}

/// The accepted entries that hold for some of the runs, with the nearest that there is where none
/// does.
struct Entries {
  std::vector<const spec::BaselineEntry*> holding{};
  std::string why_none{};
};

Entries entries_for(const std::vector<catalog::RunRow>& runs,
                    const spec::Baseline& baseline,
                    const catalog::Catalog& catalog) {
  NamedRuns all;  // who asks has left out what does not count
  for (const catalog::RunRow& run : runs)
    all.ids.insert(run.id);
  Entries entries;
  for (const SampleGroup& group : check_samples(runs, all, catalog).groups) {
    const spec::BaselineEntry* entry = home::accepted_for(baseline, group.key);
    const auto known = std::ranges::find(entries.holding, entry);
    if (entry != nullptr && known == entries.holding.end()) entries.holding.push_back(entry);
    const home::NearestEntry nearest = home::nearest_entry(baseline, group.key);
    if (nearest.entry != nullptr && entries.why_none.empty()) {
      entries.why_none = fmt::format("nearest is the {}: {}",
                                     home::entry_text(*nearest.entry),
                                     fmt::join(nearest.differences, "; "));
    }
  }
  if (entries.why_none.empty())
    entries.why_none = "it has none that was accepted, or no run is complete";
  return entries;
}

/// The smallest that an entry says of a metric, where it is of enough seeds; else `too_few` is of
/// how many the greatest is. The spread of values that are judged otherwise is another.
std::optional<double> smallest_of(const std::vector<const spec::BaselineEntry*>& entries,
                                  const RunValues& metric,
                                  std::size_t& too_few) {
  std::optional<double> smallest;
  for (const spec::BaselineEntry* entry : entries) {
    for (const spec::BaselineMetric& known : entry->metrics) {
      const bool is_it = known.name == metric.name && known.judge == metric.judge;
      if (!is_it || known.performance || !known.margin) continue;
      const std::size_t seeds = seeds_of(*entry);
      if (seeds < fewest_seeds) {
        too_few = std::max(too_few, seeds);
      } else {
        smallest = std::min(smallest.value_or(*known.margin), *known.margin);
      }
    }
  }
  return smallest;
}

void set_from_baseline(const std::vector<catalog::RunRow>& runs,
                       const GroupsRequest& request,
                       const catalog::Catalog& catalog,
                       std::vector<RunValues>& metrics,
                       std::vector<std::string>& notes) {
  const Entries entries = entries_for(runs, *request.baseline, catalog);
  if (entries.holding.empty()) {
    notes.push_back(fmt::format("{} gives no margin, it has no accepted entry for these runs: {}",
                                request.baseline_file,
                                entries.why_none));
    return;
  }
  for (RunValues& metric : metrics) {
    if (!metric.judged || metric.margin) continue;
    std::size_t too_few = 0;
    metric.margin = smallest_of(entries.holding, metric, too_few);
    if (metric.margin) {
      metric.margin_from = "the baseline " + request.baseline_file;
    } else if (too_few > 0) {
      notes.push_back(fmt::format("the margin of {} in {} is of {} seeds, and counts from {} on",
                                  metric.name,
                                  request.baseline_file,
                                  too_few,
                                  fewest_seeds));
    } else {
      notes.push_back(fmt::format("{} has no margin of {}", request.baseline_file, metric.name));
    }
  }
}

}  // namespace

void set_requested_margins(const std::vector<catalog::RunRow>& runs,
                           const GroupsRequest& request,
                           const catalog::Catalog& catalog,
                           std::vector<RunValues>& metrics,
                           std::vector<std::string>& notes) {
  if (!request.margins.empty()) set_requested(request, metrics);
  if (request.baseline) set_from_baseline(runs, request, catalog, metrics, notes);
}

}  // namespace sabath::analysis

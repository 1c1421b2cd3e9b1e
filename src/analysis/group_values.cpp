#include "group_values.hpp"

#include <sabath/analysis/check_samples.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/compare/rules.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sabath::analysis {
namespace {

namespace fs = std::filesystem;
using catalog::RunRow;

void check_sources(const std::vector<RunRow>& runs, const std::vector<spec::MetricSpec>& declared) {
  for (const RunRow& run : runs) {
    const home::RunFiles files(run.directory);
    std::error_code code;
    if (!fs::exists(files.collections(), code)) continue;
    const auto current = execution::read_current_metrics(files);
    if (current)
      require_same_sources(declared, current->declared, current->run_id, "the recipe says");
  }
}

/// Numbers of two units cannot be compared; a table of them has no unit.
void note_conflict(const catalog::RunMetric& found,
                   const CommonTerms& terms,
                   compare::RunValues& metric) {
  if (const auto known = terms.conflicts.find(found.name); known != terms.conflicts.end()) {
    metric.conflict = known->second;
  } else {
    spec::MetricSpec one;
    spec::MetricSpec other;
    one.unit = metric.unit;
    other.unit = found.unit;
    for (const auto& [name, conflict] : compare::conflicts_of(one, other))
      metric.conflict = conflict;
  }
  if (metric.conflict.empty()) return;
  metric.unit.clear();
  metric.better = spec::Better::none;
}

/// The catalog has only doubles: reads exact digits from the folders of the runs.
void add_digits(const std::vector<RunRow>& runs,
                std::map<std::string, compare::RunValues>& metrics) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto is_large = [&](const auto& metric) {
      const std::optional<double>& value = metric.second.values[run];
      return !metric.second.performance && value && std::isfinite(*value) &&
             std::abs(*value) >= base::first_inexact_whole;
    };
    if (std::ranges::none_of(metrics, is_large)) continue;
    const auto current = execution::read_current_metrics(home::RunFiles(runs[run].directory));
    if (!current) continue;
    const spec::WholeSummaries whole = whole_values_of(current->metrics, current->series);
    for (const spec::MetricSummary& summary : current->metrics) {
      const auto metric = metrics.find(summary.stream + "/" + summary.name);
      if (metric == metrics.end() || !is_large(*metric)) continue;
      set_whole(metric->second.whole, runs.size(), run, spec::whole_judged(whole, summary));
    }
  }
}

/// Values with different judges do not belong together. An imported value has no known judge.
void note_judge(const catalog::RunMetric& found,
                const RunRow& run,
                std::set<std::string>& known,
                compare::RunValues& metric) {
  if (metric.performance || run.state == spec::RunState::imported) return;
  const bool is_first = known.insert(metric.name).second;
  if (is_first) metric.judge = found.judge;
  if (metric.judge == found.judge) return;
  metric.conflict = fmt::format(
      "the runs are judged by several values of it, '{}' and '{}'; 'sabath collect RUN --with "
      "FILE' reads them all with one document",
      spec::judge_text(metric.judge),
      spec::judge_text(found.judge));
  metric.judge.reset();
  metric.better = spec::Better::none;
}

using Executors = std::map<std::string, std::map<std::string, std::size_t>>;  ///< metric -> run

/// A cached stage gives several runs the values of one execution.
void note_copies(const Executors& executors, std::vector<std::string>& notes) {
  for (const auto& [metric, values_of] : executors) {
    const auto most = std::ranges::max_element(
        values_of, {}, [](const auto& executor) { return executor.second; });
    if (most->second == 1) continue;
    notes.push_back(
        fmt::format("{}: {} values are of one execution, by {}: agreement of copies proves nothing",
                    metric,
                    most->second,
                    most->first));
  }
}

/// A metric as its first run and the recipe describe it, without values.
compare::RunValues described(const catalog::RunMetric& found,
                             const std::vector<RunRow>& runs,
                             const std::vector<spec::MetricSpec>& declared) {
  const auto spec = std::ranges::find(declared, found.name, &spec::MetricSpec::name);
  compare::RunValues metric;
  metric.name = found.stream + "/" + found.name;
  metric.unit = found.unit;
  metric.better = spec == declared.end() ? found.better : spec->better;
  // As the pair has it: of performance is what all say is.
  metric.performance = found.performance && (spec == declared.end() || spec->performance);
  const bool is_imported = runs[found.run].state == spec::RunState::imported;
  metric.judged = !metric.performance && (is_imported || spec != declared.end());
  if (spec != declared.end()) {
    metric.tolerance = spec->tolerance;
    metric.margin = spec->margin;
  }
  metric.values.resize(runs.size());
  return metric;
}

/// Metrics of the runs, and declared ones that no run has.
std::vector<compare::RunValues> metrics_of(const std::vector<RunRow>& runs,
                                           const CommonTerms& terms,
                                           const catalog::Catalog& catalog,
                                           std::vector<std::string>& notes) {
  const std::vector<spec::MetricSpec> declared = spec::with_derived(terms.declared);

  std::map<std::string, compare::RunValues> metrics;
  std::set<std::string> seen;
  std::set<std::string> with_judge;
  Executors executors;
  for (const catalog::RunMetric& found : catalog.metrics_of(runs)) {
    compare::RunValues& metric = metrics[found.stream + "/" + found.name];
    if (metric.name.empty()) metric = described(found, runs, declared);
    seen.insert(found.name);
    if (metric.conflict.empty()) note_conflict(found, terms, metric);
    if (metric.conflict.empty()) note_judge(found, runs[found.run], with_judge, metric);
    const bool is_median = metric.performance && found.performance;
    metric.values[found.run] = spec::shown_value(is_median, found.last, found.median);
    if (metric.judged)
      ++executors[metric.name][found.executed_by.empty() ? runs[found.run].id : found.executed_by];
  }
  note_copies(executors, notes);
  add_digits(runs, metrics);
  std::vector<compare::RunValues> result;
  for (auto& [name, metric] : metrics)
    result.push_back(std::move(metric));
  for (const spec::MetricSpec& spec : declared) {
    const bool is_here = seen.contains(spec.name) || terms.elsewhere.contains(spec.name);
    if (spec.performance || is_here) continue;
    compare::RunValues& metric = result.emplace_back();
    metric.name = spec.name;
    metric.unit = spec.unit;
    metric.values.resize(runs.size());
  }
  std::stable_partition(
      result.begin(), result.end(), [](const auto& metric) { return metric.judged; });
  return result;
}

/// The rung that all runs must hold, with its source. Nothing: groups of seeds.
std::optional<spec::Rung> required_rung(const std::vector<RunRow>& runs,
                                        const GroupsRequest& request,
                                        const CommonTerms& terms,
                                        std::string& said) {
  if (request.require) {
    said = std::string(spec::to_string(*request.require)) + ", by --require";
    return request.require;
  }
  const bool one_seed = std::ranges::all_of(runs, [&](const RunRow& run) {
    return run.state == spec::RunState::ok && run.seed == runs.front().seed;
  });
  if (!one_seed) {
    said = "equivalence of groups";
    return std::nullopt;
  }
  const spec::Rung rung = terms.require.value_or(spec::Rung::tolerance);
  said = std::string(spec::to_string(rung)) +
         (terms.require ? ", by the recipe" : ", for runs of one seed");
  return rung;
}

/// Repeats of a seed are one sample of what seeds do. Empty where each run is one: no seed has two
/// runs, the groups are seeds, or all runs have one, whose spread is then what is looked at.
std::vector<std::uint32_t> samples_of(const std::vector<RunRow>& runs,
                                      const std::vector<std::string>& by) {
  if (std::ranges::find(by, "seed") != by.end()) return {};
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> samples;
  std::uint32_t next = 0;
  for (const RunRow& run : runs) {
    if (run.seed.empty()) {  // not known: each for itself
      samples.push_back(next++);
      continue;
    }
    const auto [number, is_new] = numbers.try_emplace(run.seed, next);
    if (is_new) ++next;
    samples.push_back(number->second);
  }
  if (next == 1 || next == runs.size()) return {};
  return samples;
}

}  // namespace

compare::GroupsToCompare groups_of(const std::vector<RunRow>& runs,
                                   const CommonTerms& terms,
                                   const GroupsRequest& request,
                                   const catalog::Catalog& catalog,
                                   spec::GroupComparison& partial) {
  check_sources(runs, terms.declared);
  compare::GroupsToCompare groups;
  groups.runs = runs.size();
  groups.metrics = metrics_of(runs, terms, catalog, partial.notes);
  groups.samples = samples_of(runs, request.by);
  groups.require = required_rung(runs, request, terms, partial.required);
  if (!groups.require) {
    set_requested_margins(runs, request, catalog, groups.metrics, partial.notes);
  } else if (!request.margins.empty() || request.baseline) {
    partial.notes.emplace_back("all runs have one seed and must hold a rung: margins are ignored");
  }
  groups.tolerance = request.tolerance;
  groups.reference = request.reference;
  return groups;
}

std::vector<spec::RunGroup> groups_by(const std::vector<compare::NamedFactor>& factors,
                                      std::size_t runs) {
  std::map<std::vector<std::uint32_t>, std::uint64_t> counts;
  for (std::size_t run = 0; run < runs; ++run) {
    std::vector<std::uint32_t> levels;
    for (const compare::NamedFactor& named : factors)
      levels.push_back(named.factor.levels[run]);
    ++counts[levels];
  }
  std::vector<spec::RunGroup> groups;
  for (const auto& [levels, count] : counts) {
    spec::RunGroup& group = groups.emplace_back();
    group.runs = count;
    for (std::size_t i = 0; i < factors.size(); ++i)
      group.levels.push_back(factors[i].names[levels[i]]);
  }
  return groups;
}

void complete(spec::GroupComparison& comparison,
              const spec::GroupComparison& partial,
              const CommonTerms& terms) {
  comparison.recipe = partial.recipe;
  comparison.imported = partial.imported;
  comparison.left_out = partial.left_out;
  comparison.required = partial.required;
  comparison.notes = terms.notes;
  comparison.notes.insert(comparison.notes.end(), partial.notes.begin(), partial.notes.end());
}

void note_what_varies(const std::vector<RunRow>& runs,
                      const CommonTerms& terms,
                      const std::set<std::string>& by,
                      const catalog::Catalog& catalog,
                      spec::GroupComparison& comparison) {
  std::vector<std::string> keys{"host", "seed", "code", "environment"};
  keys.insert(keys.end(), terms.execution.begin(), terms.execution.end());
  std::string text;
  for (const std::string& key : keys) {
    if (by.contains(key) || (key == "host" && by.contains("node"))) continue;
    const auto values = catalog.values_of(runs, key);
    if (!values || !varies(*values)) continue;
    const std::set<std::string> distinct(values->begin(), values->end());
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key, distinct.size());
  }
  if (!text.empty()) comparison.notes.push_back("also varies: " + text);
}

}  // namespace sabath::analysis

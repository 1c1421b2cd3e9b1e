#include "group_values.hpp"
#include "metric_samples.hpp"

#include <sabath/analysis/group_selection.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/compare/compare_groups.hpp>
#include <sabath/compare/performance_facts.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using catalog::RunRow;

/// "a, b, c and 4 more"
std::string few_of(const std::set<std::string>& names) {
  constexpr std::size_t most = 4;
  std::vector<std::string> shown(names.begin(), names.end());
  if (shown.size() > most) shown.resize(most);
  return base::printable(base::joined(shown, ", ")) +
         (names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

std::set<std::string> ids_of(const std::vector<RunRow>& runs) {
  std::set<std::string> ids;
  for (const RunRow& run : runs)
    ids.insert(run.id);
  return ids;
}

std::vector<std::uint32_t> sides_of(const std::vector<RunRow>& runs, const std::vector<RunRow>& b) {
  const std::set<std::string> of_b = ids_of(b);
  std::vector<std::uint32_t> sides;
  for (const RunRow& run : runs)
    sides.push_back(of_b.contains(run.id) ? 1 : 0);
  return sides;
}

void refuse_on_both(const std::vector<RunRow>& a, const std::vector<RunRow>& b) {
  const std::set<std::string> of_a = ids_of(a);
  for (const RunRow& run : b) {
    if (!of_a.contains(run.id)) continue;
    throw Error(ErrorKind::usage,
                run.id + ": is on both sides",
                "remove it from one side: groups that share a run cannot be compared");
  }
}

std::vector<RunRow> side(const std::vector<RunRow>& runs,
                         const std::vector<std::uint32_t>& sides,
                         std::uint32_t wanted) {
  std::vector<RunRow> own;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (sides[i] == wanted) own.push_back(runs[i]);
  }
  return own;
}

std::set<std::string> distinct_values(const std::vector<RunRow>& runs,
                                      const std::string& key,
                                      const catalog::Catalog& catalog) {
  const auto values = catalog.values_of(runs, key);
  return values ? std::set<std::string>(values->begin(), values->end()) : std::set<std::string>{};
}

compare::SpeedPlaces places_of(const std::vector<RunRow>& runs, const catalog::Catalog& catalog) {
  compare::SpeedPlaces places;
  places.nodes = distinct_values(runs, "host", catalog);
  places.models = distinct_values(runs, "cpu", catalog);
  for (const std::string& gpu : distinct_values(runs, "gpu", catalog)) {
    if (!gpu.empty()) places.models.insert(gpu);
  }
  return places;
}

/// Resources that a run spent, from its record.
struct Spent {
  /// Stages were taken from the cache, or went on from an earlier attempt: then its time and energy
  /// are not those of the whole.
  bool is_part = false;
  std::optional<double> joules{};
  bool is_disturbed = false;
  std::map<std::string, base::Digest> outputs{};
};

std::vector<Spent> what_was_spent(const std::vector<RunRow>& runs) {
  std::vector<Spent> all(runs.size());
  base::for_each_in_parallel(runs.size(), [&](std::size_t i) {
    const auto record = home::RunFiles(runs[i].directory).read_record();
    if (!record) return;
    const auto& stages = record->stages;
    all[i].is_part = std::ranges::any_of(stages, [](const auto& stage) {
      return stage.state == "reused" || stage.earlier_attempts.has_value();
    });
    all[i].joules = compare::accelerator_joules(*record);
    all[i].is_disturbed = !compare::disturbances(*record).empty();
    for (const spec::OutputRecord& output : record->outputs)
      all[i].outputs.emplace(output.stage + "/" + output.path, output.digest);
  });
  return all;
}

compare::RunValues spent_values(const char* name, const char* unit) {
  compare::RunValues values;
  values.name = name;
  values.unit = unit;
  values.better = spec::Better::lower;
  values.performance = true;
  values.judged = false;
  return values;
}

void add_spent(const std::vector<RunRow>& runs,
               const std::vector<Spent>& spent,
               std::vector<compare::RunValues>& metrics) {
  compare::RunValues times = spent_values(compare::total_time_name, "s");
  compare::RunValues energies = spent_values(compare::energy_name, "J");
  bool has_time = false;
  bool has_energy = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_known = runs[i].state == spec::RunState::ok && !spent[i].is_part;
    times.values.push_back(is_known && runs[i].wall_s > 0 ? std::optional(runs[i].wall_s)
                                                          : std::nullopt);
    has_time = has_time || times.values.back();
    energies.values.push_back(is_known ? spent[i].joules : std::nullopt);
    has_energy = has_energy || energies.values.back();
  }
  if (has_time) metrics.push_back(std::move(times));
  if (has_energy) metrics.push_back(std::move(energies));
}

/// Number of samples of a side; repeats of a seed count once.
std::size_t count_samples(const std::vector<std::uint32_t>& samples,
                          const std::vector<std::uint32_t>& sides,
                          std::uint32_t side) {
  std::set<std::uint32_t> distinct;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (sides[i] != side) continue;
    ++runs;
    if (!samples.empty()) distinct.insert(samples[i]);
  }
  return samples.empty() ? runs : distinct.size();
}

void note_repeats(const char* side,
                  std::size_t runs,
                  std::size_t samples,
                  spec::GroupComparison& comparison) {
  if (samples == runs) return;
  comparison.notes.push_back(
      fmt::format("{}: {} runs have {} seed{}, and count as {} in all tests: repeats of a seed are "
                  "not independent",
                  side,
                  runs,
                  samples,
                  samples == 1 ? "" : "s",
                  samples));
}

/// Notes values of all runs of one side and none of the other: possible causes of a difference.
void note_separating_keys(const std::vector<RunRow>& a,
                          const std::vector<RunRow>& b,
                          const CommonTerms& terms,
                          const catalog::Catalog& catalog,
                          spec::GroupComparison& comparison) {
  std::vector<std::string> keys{"host", "cpu", "gpu", "code", "environment"};
  for (const std::string& name : terms.parameters)
    keys.push_back("param." + name);
  std::vector<std::string> separating;
  for (const std::string& key : keys) {
    const std::set<std::string> of_a = distinct_values(a, key, catalog);
    const std::set<std::string> of_b = distinct_values(b, key, catalog);
    const bool share =
        std::ranges::any_of(of_a, [&](const auto& value) { return of_b.contains(value); });
    if (!of_a.empty() && !of_b.empty() && !share)
      separating.push_back(key.starts_with("param.") ? key.substr(6) : key);
  }
  if (!separating.empty()) {
    comparison.notes.push_back(
        fmt::format("A and B have nothing in common in: {}", fmt::join(separating, ", ")));
  }
}

/// "0.1, 0.2"
std::string values_text(const std::set<std::string>& values) {
  constexpr std::size_t most = 4;
  std::vector<std::string> shown(values.begin(), values.end());
  std::ranges::sort(shown, base::value_before);
  if (shown.size() > most) shown.resize(most);
  return base::joined(shown, ", ", spec::shown_text) +
         (values.size() > most ? fmt::format(" and {} more", values.size() - most) : "");
}

/// Parameters whose values on one side are not those on the other.
std::vector<spec::Change> differing_parameters(const std::vector<RunRow>& a,
                                               const std::vector<RunRow>& b,
                                               const CommonTerms& terms,
                                               const catalog::Catalog& catalog) {
  std::vector<spec::Change> differing;
  for (const std::string& name : terms.parameters) {
    const std::set<std::string> of_a = distinct_values(a, "param." + name, catalog);
    const std::set<std::string> of_b = distinct_values(b, "param." + name, catalog);
    if (of_a != of_b) differing.push_back({name, values_text(of_a), values_text(of_b)});
  }
  return differing;
}

/// One seed on both sides shows no chance; nor do values that are missing.
void limit_verdict(const RunSamples& samples,
                   const compare::RunValues& metric,
                   std::size_t without,
                   spec::BetterFinding& finding) {
  std::string why;
  if (samples.one_seed && !metric.performance) {
    why = "all runs have one seed";
  } else if (without > 0) {
    why = fmt::format(
        "{} {} no finite value", base::counted(without, "run"), without == 1 ? "has" : "have");
  }
  if (why.empty()) return;
  finding.verdict = spec::Verdict::inconclusive;
  finding.reason = why + "; " + finding.reason;
}

/// RESULT is then whether B is better.
void judge_better_side(const std::vector<RunRow>& runs,
                       const std::vector<std::uint32_t>& sides,
                       const compare::GroupsToCompare& groups,
                       const std::string& name,
                       spec::GroupComparison& comparison) {
  const compare::RunValues& metric = named_metric(groups.metrics, name, "--better");
  require_direction(groups.metrics, metric, "--better");
  const RunSamples samples = samples_by_seed(runs, metric.performance);
  std::vector<std::vector<std::size_t>> of_side(2);
  for (std::size_t run = 0; run < runs.size(); ++run)
    of_side[sides[run]].push_back(run);
  const MetricSamples a = samples_of(metric, samples, of_side[0]);
  const MetricSamples b = samples_of(metric, samples, of_side[1]);
  spec::BetterFinding& finding = comparison.better.emplace(
      compare::judge_better(a.means, b.means, metric.better, groups.alpha));
  finding.metric = metric.name;
  limit_verdict(samples, metric, a.without + b.without, finding);
  comparison.required = "B is better than A by " + metric.name;
  comparison.result = finding.verdict;
  comparison.reason = metric.name + ": " + finding.reason;
}

/// Outputs of different seeds differ, so groups are not judged by them. Says so, and what the bytes
/// of runs of one seed say.
void note_outputs(const std::vector<RunRow>& runs,
                  const std::vector<std::uint32_t>& sides,
                  const std::vector<Spent>& records,
                  spec::GroupComparison& comparison) {
  std::set<std::string> names;
  std::array<std::map<std::string, std::size_t>, 2> by_seed;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const auto& [name, digest] : records[i].outputs)
      names.insert(name);
    if (!runs[i].seed.empty()) by_seed.at(sides[i]).emplace(runs[i].seed, i);
  }
  if (names.empty()) return;
  std::size_t pairs = 0;
  std::set<std::string> differing;
  for (const auto& [seed, a] : by_seed[0]) {
    const auto b = by_seed[1].find(seed);
    if (b == by_seed[1].end()) continue;
    ++pairs;
    for (const std::string& name : names) {
      const auto of_a = records[a].outputs.find(name);
      const auto of_b = records[b->second].outputs.find(name);
      const bool is_in_a = of_a != records[a].outputs.end();
      const bool is_in_b = of_b != records[b->second].outputs.end();
      if (is_in_a != is_in_b || (is_in_a && of_a->second != of_b->second)) differing.insert(name);
    }
  }
  std::string text = "outputs are not judged in groups: " + few_of(names);
  if (pairs > 0 && differing.empty())
    text +=
        fmt::format("; their bytes are equal in all {} of one seed", base::counted(pairs, "pair"));
  if (!differing.empty())
    text += fmt::format(
        "; at the same seed the bytes differ: {}; 'sabath compare' of two runs judges "
        "them",
        few_of(differing));
  comparison.notes.push_back(text);
}

/// A side is disturbed if more than half of its runs are.
void count_disturbed(const std::vector<Spent>& spent,
                     const std::vector<std::uint32_t>& sides,
                     compare::GroupsToCompare& groups) {
  std::array<std::size_t, 2> runs{};
  std::array<std::size_t, 2> disturbed{};
  for (std::size_t i = 0; i < spent.size(); ++i) {
    ++runs.at(sides[i]);
    disturbed.at(sides[i]) += spent[i].is_disturbed ? 1 : 0;
  }
  groups.disturbed_runs = disturbed[0] + disturbed[1];
  groups.has_disturbed_side = 2 * disturbed[0] > runs[0] || 2 * disturbed[1] > runs[1];
}

}  // namespace

spec::GroupComparison compare_sides(const std::vector<RunRow>& a,
                                    const std::vector<RunRow>& b,
                                    const GroupsRequest& request,
                                    const catalog::Catalog& catalog) {
  refuse_on_both(a, b);
  spec::GroupComparison partial;
  partial.by = {"side"};
  std::vector<RunRow> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<RunRow> runs = complete_runs(all, request, catalog, partial);
  const std::vector<std::uint32_t> sides = sides_of(runs, b);
  const std::vector<RunRow> of_a = side(runs, sides, 0);
  const std::vector<RunRow> of_b = side(runs, sides, 1);
  // Shown also where they may not be compared.
  partial.groups = {{{"A"}, of_a.size()}, {{"B"}, of_b.size()}};
  if (of_a.empty() || of_b.empty()) {
    partial.reason =
        of_a.empty() == of_b.empty()
            ? "no run is complete and to be judged; \"left out\" says why"
            : fmt::format("no run of {} is complete and to be judged; \"left out\" says why",
                          of_a.empty() ? "A" : "B");
    return partial;
  }
  std::set<std::string> allowed = request.across;
  if (!request.better.empty()) allowed.insert("parameters");
  const auto terms = comparable(runs, allowed, catalog, partial);
  if (!terms) return partial;
  compare::GroupsToCompare groups = groups_of(runs, *terms, request, catalog, partial);
  groups.factors = {{{"side", 2, sides}, {"A", "B"}}};
  const std::vector<Spent> spent = what_was_spent(runs);
  add_spent(runs, spent, groups.metrics);
  count_disturbed(spent, sides, groups);
  groups.two_sides = true;
  groups.speed_margin =
      compare::speed_margin_between(places_of(of_a, catalog), places_of(of_b, catalog));
  const std::size_t samples_a = count_samples(groups.samples, sides, 0);
  const std::size_t samples_b = count_samples(groups.samples, sides, 1);
  const bool one_against_many = std::min(samples_a, samples_b) == 1 && samples_a != samples_b;
  if (one_against_many && !groups.require) {
    partial.required = "prediction interval, for one run against references";
    if (!request.margins.empty() || request.baseline)
      partial.notes.emplace_back("one run is compared with an interval: margins are ignored");
  }
  spec::GroupComparison comparison = compare::compare_groups(groups);
  complete(comparison, partial, *terms);
  if (!request.better.empty()) {
    judge_better_side(runs, sides, groups, request.better, comparison);
    comparison.better->parameters = differing_parameters(of_a, of_b, *terms, catalog);
  } else if (groups.require) {
    compare_in_full(runs, request, *groups.require, comparison);
  }
  if (request.reference)
    comparison.reference = *request.reference == compare::ReferenceSide::a ? "a" : "b";
  note_separating_keys(of_a, of_b, *terms, catalog, comparison);
  const auto parts = std::ranges::count_if(spent, &Spent::is_part);
  if (parts > 0) {
    comparison.notes.push_back(
        fmt::format("{} of {} runs have stages from the cache, or that went on from an earlier "
                    "attempt: their total times and energies are not counted",
                    parts,
                    runs.size()));
  }
  if (!groups.require) {
    note_outputs(runs, sides, spent, comparison);
    note_repeats("A", of_a.size(), samples_a, comparison);
    note_repeats("B", of_b.size(), samples_b, comparison);
  }
  note_what_varies(runs, *terms, {}, catalog, comparison);
  return comparison;
}

}  // namespace sabath::analysis

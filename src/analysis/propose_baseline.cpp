#include <sabath/analysis/check_samples.hpp>
#include <sabath/analysis/propose_baseline.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/version.hpp>
#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using spec::BaselineEntry;
using spec::BaselineMetric;

constexpr std::uint64_t fewest_for_interval = 5;
constexpr std::uint64_t fewest_for_margin = 10;

bool is_older(const CheckSample& a, const CheckSample& b) {
  return std::tie(a.placed, a.run.created, a.run.run_id) <
         std::tie(b.placed, b.run.created, b.run.run_id);
}

/// Joins groups that differ only in an ignored site or device.
std::vector<SampleGroup> merged(std::vector<SampleGroup> groups, const ProposalRequest& request) {
  std::vector<SampleGroup> result;
  for (SampleGroup& group : groups) {
    std::ranges::sort(group.runs, is_older);
    if (request.any_site) group.key.site = spec::any_of_all;
    if (request.any_device) group.key.device = spec::any_of_all;
    const auto same = std::ranges::find(result, group.key, &SampleGroup::key);
    if (same == result.end()) {
      result.push_back(std::move(group));
      continue;
    }
    if (is_older(same->runs.back(), group.runs.back())) std::swap(*same, group);
    std::move(group.runs.begin(), group.runs.end(), std::back_inserter(same->runs));
    std::ranges::sort(same->runs, is_older);
  }
  return result;
}

std::string one_or_several(const std::vector<CheckSample>& runs, std::string CheckSample::*digest) {
  const bool one = std::ranges::all_of(
      runs, [&](const CheckSample& run) { return run.*digest == runs.front().*digest; });
  return one ? runs.front().*digest : "several";
}

void set_margin(const spec::MetricSpec& spec, BaselineMetric& metric) {
  if (metric.performance) return;
  if (spec.margin) {
    metric.margin = spec.margin;
    metric.margin_from = "the recipe";
  } else if (metric.n >= fewest_for_margin && metric.sd > 0) {
    metric.margin = 2 * metric.sd;
    metric.margin_from = "2 * sd";
  }
}

compare::Seeds seeds_of(const BaselineEntry& entry) {
  compare::Seeds seeds;
  for (const spec::BaselineRun& run : entry.runs)
    seeds.push_back(run.seed);
  return seeds;
}

void note_outliers(const BaselineMetric& metric, BaselineEntry& entry) {
  const compare::Seeds seeds = seeds_of(entry);
  const std::vector<double> samples = compare::by_seed(metric.values, seeds);
  const auto add = [&](const std::string& name, const std::string& value, double median) {
    entry.notes.push_back(
        fmt::format("{} of {} lies apart: {} (median {})", metric.name, name, value, median));
  };
  if (samples.size() < seeds.size()) {
    const std::set distinct(seeds.begin(), seeds.end());
    for (const std::size_t i : compare::outliers(samples)) {
      const auto seed = *std::next(distinct.begin(), static_cast<std::ptrdiff_t>(i));
      add(seed ? fmt::format("seed {}", *seed) : "runs without a seed",
          fmt::format("{}", samples[i]),
          compare::median(compare::finite_of(samples)));
    }
    return;
  }
  for (const std::size_t i : compare::outliers(metric.values)) {
    const std::string whole = metric.whole ? (*metric.whole)[i] : std::string();
    add(entry.runs[i].run_id,
        whole.empty() ? fmt::format("{}", metric.values[i]) : whole,
        metric.median);
  }
}

bool have_one_seed(const std::vector<spec::BaselineRun>& runs) {
  return std::ranges::all_of(runs, [&](const auto& run) { return run.seed == runs.front().seed; });
}

void add_notes(const SampleGroup& group, BaselineEntry& entry) {
  const compare::Seeds seeds = seeds_of(entry);
  const std::size_t n = compare::by_seed(std::vector<double>(seeds.size()), seeds).size();
  const bool repeats_seeds = n < seeds.size();
  if (entry.metrics.empty()) entry.notes.emplace_back("no metric: the entry would check nothing");
  for (const BaselineMetric& metric : entry.metrics) {
    if (metric.n == 0) entry.notes.push_back(metric.name + ": no finite value");
    note_outliers(metric, entry);
    const bool varies = metric.sd > 0;
    if (varies && !metric.performance && !metric.margin) {
      entry.notes.push_back(fmt::format(
          "{} has no margin: groups of runs will be INCONCLUSIVE (a 'margin' in the recipe, or "
          "{} runs)",
          metric.name,
          fewest_for_margin));
    }
  }
  if (n < fewest_for_interval && !(group.deterministic && have_one_seed(entry.runs))) {
    entry.notes.push_back(
        fmt::format("{} {}(s) are too few for a prediction interval, which wants {}",
                    n,
                    repeats_seeds ? "seed" : "run",
                    fewest_for_interval));
  }
  if (repeats_seeds) {
    entry.notes.push_back(fmt::format(
        "{} runs have {} seeds, and count as {} in a check: repeats of a seed are not independent",
        seeds.size(),
        n,
        n));
  }
  if (have_one_seed(entry.runs) && entry.runs.front().seed) {
    entry.notes.push_back(fmt::format("all runs have the seed {}: it holds for that one alone",
                                      *entry.runs.front().seed));
  }
  for (const auto& [facet, digest] : entry.facets) {
    if (digest == "several") entry.notes.push_back("the " + facet + " is not the same in all runs");
  }
}

/// Throws Error{usage} where the runs are judged by several.
std::optional<std::string> judge_of(const GroupMetric& metric, const SampleGroup& group) {
  for (std::size_t i = 1; i < metric.judges.size(); ++i) {
    if (metric.judges[i] == metric.judges.front()) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("metric '{}' of {} is judged by '{}', and that of {} by '{}'",
                    metric.name,
                    group.runs.front().run.run_id,
                    spec::judge_text(metric.judges.front()),
                    group.runs[i].run.run_id,
                    spec::judge_text(metric.judges[i])),
        "select runs that are judged alike, or read all with one document: 'sabath collect RUN "
        "--with FILE'");
  }
  return metric.judges.empty() ? std::nullopt : metric.judges.front();
}

BaselineEntry entry_of(const SampleGroup& group, const ProposalRequest& request) {
  BaselineEntry entry;
  entry.holds_for = group.key;
  entry.recipe_digest = group.runs.back().recipe_digest;
  entry.selection = request.selection;
  entry.sabath_version = std::string(base::version());
  for (const CheckSample& run : group.runs)
    entry.runs.push_back(run.run);
  entry.facets = {{"code", one_or_several(group.runs, &CheckSample::code)},
                  {"environment", one_or_several(group.runs, &CheckSample::environment)}};
  std::set<std::string> without;
  for (const spec::MetricSpec& spec : group.declared)
    without.insert(spec.name);
  std::set<std::string> partly;
  for (const GroupMetric& found : metrics_of(group)) {
    if (found.spec.performance && group.key.device == spec::any_of_all) {
      without.erase(bare_name(found.name));
      continue;
    }
    const bool all =
        std::ranges::all_of(found.values, [](const auto& value) { return value.has_value(); });
    if (!all) {
      partly.insert(bare_name(found.name));
      continue;
    }
    without.erase(bare_name(found.name));
    BaselineMetric metric;
    metric.name = found.name;
    metric.unit = found.spec.unit;
    metric.better = found.spec.better;
    metric.performance = found.spec.performance;
    for (const auto& value : found.values)
      metric.values.push_back(*value);
    if (!found.whole.empty()) metric.whole = found.whole;
    metric.judge = judge_of(found, group);
    compare::summarise(metric, seeds_of(entry));
    set_margin(found.spec, metric);
    entry.metrics.push_back(std::move(metric));
  }
  for (const std::string& name : partly)
    without.erase(name);  // its absence is nothing to accept
  entry.without = {without.begin(), without.end()};
  for (const std::string& name : partly)
    entry.notes.push_back(name + " is left out: not every run has it");
  add_notes(group, entry);
  return entry;
}

compare::JudgedMetric as_judged(const BaselineEntry& entry, const BaselineMetric& metric) {
  compare::JudgedMetric judged;
  for (std::size_t i = 0; i < entry.runs.size(); ++i) {
    judged.runs.push_back(entry.runs[i].run_id);
    judged.seeds.push_back(entry.runs[i].seed);
    judged.values.emplace_back(metric.values[i]);
    judged.judges.push_back(metric.judge);
  }
  if (metric.whole) judged.whole = *metric.whole;
  return judged;
}

compare::BaselineVerdict verdict_on(const BaselineEntry& before,
                                    const BaselineMetric& old,
                                    const BaselineEntry& after,
                                    const BaselineMetric& proposed) {
  compare::BaselineTerms terms;
  for (const spec::BaselineRun& run : before.runs)
    terms.seeds.push_back(run.seed);
  terms.margin = old.margin;
  const compare::JudgedMetric judged = as_judged(after, proposed);
  return proposed.performance ? compare::judge_performance(old, judged, terms)
                              : compare::judge_result(old, judged, terms);
}

const BaselineMetric* find(const BaselineEntry& entry, const std::string& name) {
  for (const BaselineMetric& metric : entry.metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

void add_changes(const BaselineEntry* before,
                 const BaselineEntry& after,
                 std::size_t index,
                 std::vector<ProposedChange>& changes) {
  const auto add = [&](const BaselineMetric& metric) -> ProposedChange& {
    ProposedChange& change = changes.emplace_back();
    change.entry = index;
    change.metric = metric.name;
    change.performance = metric.performance;
    return change;
  };
  for (const BaselineMetric& metric : after.metrics) {
    ProposedChange& change = add(metric);
    change.after = metric;
    const BaselineMetric* old = before == nullptr ? nullptr : find(*before, metric.name);
    if (old == nullptr) continue;
    change.before = *old;
    const compare::BaselineVerdict verdict = verdict_on(*before, *old, after, metric);
    change.verdict = verdict.verdict;
    change.reason = verdict.reason;
  }
  if (before == nullptr) return;
  for (const BaselineMetric& metric : before->metrics) {
    if (find(after, metric.name) == nullptr) add(metric).before = metric;
  }
}

void note_others(const std::vector<catalog::RunRow>& others, std::vector<std::string>& notes) {
  std::map<std::string, int> counts;
  for (const catalog::RunRow& row : others)
    ++counts[std::string(spec::to_string(row.state))];
  for (const auto& [state, count] : counts)
    notes.push_back(fmt::format("left out: {} run(s) that are '{}'", count, state));
}

void check_recipe(const std::vector<SampleGroup>& groups, spec::Baseline& present) {
  if (groups.empty()) {
    throw Error(ErrorKind::usage,
                "no run of the selection is complete: a baseline is made of runs that are 'ok'",
                "'sabath list runs' shows what there is; a table that was imported proves nothing "
                "of what was run");
  }
  for (const SampleGroup& group : groups) {
    if (present.recipe.empty()) present.recipe = group.recipe;
    if (present.recipe == group.recipe) continue;
    throw Error(ErrorKind::usage,
                "a baseline is of one recipe: this one is of '" + present.recipe +
                    "', and there are runs of '" + group.recipe + "'",
                "each recipe has a file of its own");
  }
}

}  // namespace

Proposal propose_baseline(const std::vector<catalog::RunRow>& rows,
                          const ProposalRequest& request,
                          spec::Baseline present,
                          const catalog::Catalog& catalog) {
  CheckSamples runs = check_samples(rows, request.named, catalog);
  Proposal proposal;
  proposal.notes = runs.notes;
  note_others(runs.others, proposal.notes);
  const std::vector<SampleGroup> groups = merged(std::move(runs.groups), request);
  check_recipe(groups, present);
  proposal.baseline = std::move(present);
  auto& entries = proposal.baseline.entries;
  for (const SampleGroup& group : groups) {
    std::erase_if(entries, [&](const BaselineEntry& entry) {
      return !entry.accepted && entry.holds_for == group.key;
    });
  }
  const std::size_t first = entries.size();
  for (const SampleGroup& group : groups)
    entries.push_back(entry_of(group, request));
  for (std::size_t i = first; i < entries.size(); ++i) {
    proposal.proposed.push_back(i);
    const BaselineEntry* before = home::accepted_for(proposal.baseline, entries[i].holds_for);
    add_changes(before, entries[i], i, proposal.changes);
  }
  return proposal;
}

}  // namespace sabath::analysis

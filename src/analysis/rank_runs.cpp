#include "group_values.hpp"
#include "metric_samples.hpp"

#include <sabath/analysis/check_samples.hpp>
#include <sabath/analysis/group_selection.hpp>
#include <sabath/analysis/rank_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using catalog::RunRow;
using compare::RunValues;
using Levels = std::vector<std::string>;

/// "--by", or the place in the document.
std::string place_of(const RankRequest& request, const char* option, const char* key) {
  return request.rules_file.empty() ? option : base::printable(request.rules_file) + ": /" + key;
}

/// The value that most runs have; of several the first in order.
std::string most_common(const Levels& levels) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& level : levels)
    ++counts[level];
  return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

void add_left_out(spec::GroupComparison& partial, const std::string& reason, std::uint64_t runs) {
  if (runs > 0) partial.left_out.push_back({reason, runs});
}

/// A key that must have one value.
struct FixedKey {
  std::string key{};
  std::string value{};  ///< as shown
  Levels levels{};      ///< as shown, of the runs
};

std::string differing_text(const std::vector<FixedKey>& keys, std::size_t run) {
  std::string text;
  for (const FixedKey& fixed : keys) {
    if (fixed.levels[run] == fixed.value) continue;
    text += fmt::format("{}{} is {}, not {}",
                        text.empty() ? "" : "; ",
                        fixed.key,
                        spec::shown_text(fixed.levels[run]),
                        spec::shown_text(fixed.value));
  }
  return text;
}

/// Returns the runs that have the fixed values; adds the others to `partial`.
std::vector<RunRow> with_fixed_values(const std::vector<RunRow>& runs,
                                      const RankRequest& request,
                                      const catalog::Catalog& catalog,
                                      spec::GroupComparison& partial) {
  if (runs.empty()) return {};
  std::vector<FixedKey> keys;
  for (const std::string& key : request.rules.fixed) {
    FixedKey fixed{
        key, {}, shown_levels(levels_of(runs, key, catalog, place_of(request, "", "fixed")))};
    fixed.value = most_common(fixed.levels);
    keys.push_back(std::move(fixed));
  }
  std::vector<RunRow> kept;
  std::map<std::string, std::uint64_t> others;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string text = differing_text(keys, i);
    if (text.empty()) {
      kept.push_back(runs[i]);
    } else {
      ++others["not as the rules fix it: " + text];
    }
  }
  for (const auto& [reason, count] : others)
    add_left_out(partial, reason, count);
  return kept;
}

std::vector<std::string> varying_parameters(const std::vector<RunRow>& runs,
                                            const CommonTerms& terms,
                                            const std::set<std::string>& across,
                                            const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const std::string& name : terms.parameters) {
    if (across.contains(name)) continue;
    const auto values = catalog.values_of(runs, "param." + name);
    if (!values || !varies(*values)) continue;
    // A parameter may be called like something else.
    const auto plain = catalog.values_of(runs, name);
    names.push_back(plain == values ? name : "param." + name);
  }
  return names;
}

const RunValues& metric_to_rank(const std::vector<RunValues>& metrics,
                                const CommonTerms& terms,
                                const RankRequest& request) {
  const std::string& name = request.rules.metric;
  if (!name.empty()) {
    const std::string place = place_of(request, "--metric", "metric");
    const RunValues& metric = named_metric(metrics, name, place);
    if (request.rules.better.empty()) require_direction(metrics, metric, place);
    return metric;
  }
  for (const spec::MetricSpec& spec : spec::with_derived(terms.declared)) {
    if (!spec.target && spec.better == spec::Better::none) continue;
    const auto found = std::ranges::find_if(metrics, [&](const RunValues& metric) {
      return bare_name(metric.name) == spec.name &&
             (metric.better != spec::Better::none || !metric.conflict.empty());
    });
    if (found == metrics.end()) continue;
    // Runs that disagree about it are not ranked by another one instead.
    return found->conflict.empty() ? *found : named_metric(metrics, found->name, "the metric");
  }
  throw Error(ErrorKind::usage,
              "the recipe has no metric with a target or a direction, by which runs can be ranked",
              R"(name one with --metric, or write "better": "lower" or "higher" into the recipe)");
}

/// Throws Error{usage} where the rules contradict the recipe.
spec::Better direction_of(const RunValues& metric, const RankRequest& request) {
  const auto wanted = spec::parse_enum<spec::Better>(request.rules.better);
  if (!wanted) return metric.better;
  if (metric.better == *wanted || metric.better == spec::Better::none) return *wanted;
  throw Error(ErrorKind::usage,
              fmt::format("{}: '{}', but of {} the recipe says '{}'",
                          place_of(request, "", "better"),
                          request.rules.better,
                          base::printable(metric.name),
                          spec::to_string(metric.better)),
              "remove 'better' from the rules, or rank another metric");
}

/// Groups of runs by their levels, in order.
using Groups = std::map<Levels, std::vector<std::size_t>, base::ValuesOrder>;

/// The levels of the runs for each key.
std::vector<Levels> columns_by(const std::vector<std::string>& by,
                               const std::vector<RunRow>& runs,
                               const RankRequest& request,
                               const catalog::Catalog& catalog) {
  std::vector<Levels> columns;
  for (const std::string& key : by)
    columns.push_back(shown_levels(levels_of(runs, key, catalog, place_of(request, "--by", "by"))));
  return columns;
}

Groups groups_of_runs(std::size_t runs, const std::vector<Levels>& columns) {
  Groups groups;
  for (std::size_t run = 0; run < runs; ++run) {
    Levels levels;
    for (const Levels& column : columns)
      levels.push_back(column[run]);
    groups[levels].push_back(run);
  }
  return groups;
}

/// A group before it is ranked.
struct Candidate {
  compare::GroupToRank group{};
  std::vector<std::size_t> runs{};
  std::set<std::string> seeds{};  ///< that are known
  std::size_t without_seed = 0;   ///< runs
  std::vector<std::string> problems{};
};

std::vector<Candidate> candidates_of(const Groups& groups,
                                     const std::vector<RunRow>& runs,
                                     const RunValues& metric,
                                     const RunSamples& samples) {
  std::vector<Candidate> candidates;
  for (const auto& [levels, own] : groups) {
    Candidate& candidate = candidates.emplace_back();
    MetricSamples found = samples_of(metric, samples, own);
    candidate.group = {levels, own.size(), std::move(found.means)};
    candidate.runs = own;
    for (const std::size_t run : own) {
      if (runs[run].seed.empty()) ++candidate.without_seed;
      if (!runs[run].seed.empty()) candidate.seeds.insert(runs[run].seed);
    }
    if (found.without == 0) continue;
    candidate.problems.push_back(fmt::format("{} of {} {} no finite value of {}",
                                             found.without,
                                             base::counted(own.size(), "run"),
                                             found.without == 1 ? "has" : "have",
                                             metric.name));
  }
  return candidates;
}

std::string target_text(const spec::RankingTarget& target) {
  return target.at_most ? fmt::format("at most {}", *target.at_most)
                        : fmt::format("at least {}", *target.at_least);
}

void check_target(const spec::RankingTarget& target,
                  const RunValues& metric,
                  Candidate& candidate) {
  if (!target.exists()) return;
  std::size_t missed = 0;
  for (const std::size_t run : candidate.runs) {
    const auto& value = metric.values[run];
    missed += value && target.reached_by(*value) ? 0 : 1;
  }
  if (missed == 0) return;
  candidate.problems.push_back(
      fmt::format("{} of {} not reach the target, {} {}",
                  missed,
                  base::counted(candidate.runs.size(), "run") + (missed == 1 ? " does" : " do"),
                  metric.name,
                  target_text(target)));
}

std::string seeds_text(const std::set<std::string>& seeds) {
  constexpr std::size_t most = 8;
  std::vector<std::string> sorted(seeds.begin(), seeds.end());
  std::ranges::sort(sorted, base::value_before);
  const std::size_t all = sorted.size();
  if (all > most) sorted.resize(most);
  return fmt::format("{}{}",
                     fmt::join(sorted, ", "),
                     all > most ? fmt::format(" and {} more", all - most) : std::string());
}

/// The seeds that most groups have; of several the most seeds.
std::set<std::string> usual_seeds(const std::vector<Candidate>& candidates) {
  std::map<std::set<std::string>, std::size_t> counts;
  for (const Candidate& candidate : candidates) {
    if (candidate.problems.empty()) ++counts[candidate.seeds];
  }
  std::set<std::string> usual;
  std::size_t most = 0;
  for (const auto& [seeds, count] : counts) {
    if (count < most || (count == most && seeds.size() <= usual.size())) continue;
    usual = seeds;
    most = count;
  }
  return usual;
}

void check_seeds(const spec::RankingSeeds& rules, std::vector<Candidate>& candidates) {
  const bool has_rules = rules.at_least > 1 || rules.same;
  for (Candidate& candidate : candidates) {
    const auto least = static_cast<std::size_t>(rules.at_least);
    if (has_rules && candidate.without_seed > 0) {
      candidate.problems.push_back(
          fmt::format("the seed of {} is not known", base::counted(candidate.without_seed, "run")));
    } else if (has_rules && candidate.seeds.size() < least) {
      candidate.problems.push_back(fmt::format(
          "{}, at least {} are required", base::counted(candidate.seeds.size(), "seed"), least));
    }
  }
  if (!rules.same) return;
  const std::set<std::string> usual = usual_seeds(candidates);
  for (Candidate& candidate : candidates) {
    if (candidate.seeds == usual || !candidate.problems.empty()) continue;
    candidate.problems.push_back(fmt::format(
        "its seeds are {}, of most groups {}", seeds_text(candidate.seeds), seeds_text(usual)));
  }
}

void note_seeds(const RunSamples& samples,
                const RunValues& metric,
                spec::GroupComparison& partial) {
  if (samples.without_seed > 0) {
    partial.notes.push_back(
        fmt::format("the seed of {} is not known: each such run counts for itself",
                    base::counted(samples.without_seed, "run")));
  }
  if (!samples.one_seed) return;
  partial.notes.emplace_back(metric.performance
                                 ? "all runs have one seed: each run counts for itself"
                                 : "all runs have one seed: nothing shows what another seed gives");
}

/// The last part of the reason says what to do.
[[noreturn]] void refuse_together(const std::string& reason) {
  const auto last = reason.rfind("; ");
  const bool has_hint = last != std::string::npos;
  throw Error(ErrorKind::usage,
              "the runs cannot be ranked together: " + reason.substr(0, last),
              has_hint ? reason.substr(last + 2) : std::string());
}

/// What may differ between the runs.
std::set<std::string> allowed_keys(const RankRequest& request) {
  std::set<std::string> allowed = request.across;
  allowed.insert(request.rules.by.begin(), request.rules.by.end());
  if (request.rules.by.empty()) allowed.insert("parameters");
  return allowed;
}

std::vector<std::string> keys_of_groups(const std::vector<RunRow>& runs,
                                        const RankRequest& request,
                                        const CommonTerms& terms,
                                        const catalog::Catalog& catalog) {
  if (!request.rules.by.empty()) return request.rules.by;
  std::vector<std::string> by = varying_parameters(runs, terms, request.across, catalog);
  if (!by.empty()) return by;
  throw Error(
      ErrorKind::usage,
      "no parameter varies among the " + base::counted(runs.size(), "run") +
          ": there is nothing to rank",
      "select runs of several settings, or name what makes the groups, such as '--by host'");
}

void set_margin(const RankRequest& request, const RunValues& metric, spec::Ranking& ranking) {
  if (request.rules.margin) {
    ranking.margin = request.rules.margin;
    ranking.margin_from = request.margin_from;
  } else if (metric.margin) {
    ranking.margin = metric.margin;
    ranking.margin_from = "the recipe";
  }
}

spec::Ranking ranked(std::vector<Candidate> candidates, const compare::RankingTerms& terms) {
  std::vector<compare::GroupToRank> groups;
  std::vector<spec::ExcludedGroup> excluded;
  for (Candidate& candidate : candidates) {
    if (candidate.problems.empty()) {
      groups.push_back(std::move(candidate.group));
    } else {
      excluded.push_back({candidate.group.levels,
                          candidate.group.runs,
                          fmt::format("{}", fmt::join(candidate.problems, "; "))});
    }
  }
  spec::Ranking ranking = compare::rank_groups(groups, terms);
  ranking.excluded = std::move(excluded);
  return ranking;
}

/// Adds what was found before the values were ranked.
void complete(spec::Ranking& ranking,
              const spec::GroupComparison& partial,
              const RankRequest& request) {
  ranking.rules = request.rules_file;
  ranking.recipe = partial.recipe;
  ranking.imported = partial.imported;
  ranking.left_out = partial.left_out;
  ranking.notes = partial.notes;
}

}  // namespace

spec::Ranking rank_runs(const std::vector<RunRow>& all,
                        const RankRequest& request,
                        const catalog::Catalog& catalog) {
  GroupsRequest groups_request;
  groups_request.by = request.rules.by;
  groups_request.across = request.across;
  groups_request.named = request.named;
  spec::GroupComparison partial;
  const std::vector<RunRow> runs = with_fixed_values(
      complete_runs(all, groups_request, catalog, partial), request, catalog, partial);
  if (runs.empty()) {
    spec::Ranking none = compare::rank_groups({}, {});
    none.reason = "no run counts";
    complete(none, partial, request);
    return none;
  }
  // A key that no run has is an error before anything else is said.
  std::vector<Levels> columns = columns_by(request.rules.by, runs, request, catalog);
  const auto terms = comparable(runs, allowed_keys(request), catalog, partial);
  if (!terms) refuse_together(partial.reason);
  const std::vector<std::string> by = keys_of_groups(runs, request, *terms, catalog);
  if (columns.empty()) columns = columns_by(by, runs, request, catalog);
  const Groups groups = groups_of_runs(runs.size(), columns);
  groups_request.by = by;
  const compare::GroupsToCompare values = groups_of(runs, *terms, groups_request, catalog, partial);
  const RunValues& metric = metric_to_rank(values.metrics, *terms, request);
  const spec::Better better = direction_of(metric, request);
  const spec::RankingTarget& target = request.rules.target;
  const RunValues& target_metric =
      target.metric.empty()
          ? metric
          : named_metric(values.metrics, target.metric, place_of(request, "", "target/metric"));
  const RunSamples samples = samples_by_seed(runs, metric.performance);
  std::vector<Candidate> candidates = candidates_of(groups, runs, metric, samples);
  for (Candidate& candidate : candidates)
    check_target(target, target_metric, candidate);
  check_seeds(request.rules.seeds, candidates);
  note_seeds(samples, metric, partial);
  std::set<std::string> known(by.begin(), by.end());
  known.insert("seed");
  note_what_varies(runs, *terms, known, catalog, partial);
  spec::Ranking described;
  set_margin(request, metric, described);
  spec::Ranking ranking =
      ranked(std::move(candidates), {by, better, described.margin, values.alpha});
  complete(ranking, partial, request);
  ranking.notes.insert(ranking.notes.begin(), terms->notes.begin(), terms->notes.end());
  ranking.metric = metric.name;
  ranking.unit = metric.unit;
  ranking.judge = metric.judge;
  ranking.better = better;
  ranking.performance = metric.performance;
  ranking.by = by;
  ranking.margin = described.margin;
  ranking.margin_from = described.margin_from;
  ranking.runs = runs.size();
  return ranking;
}

namespace {

/// Parameters that vary among the runs and affect the result.
std::set<std::string> swept_parameters(const std::vector<RunRow>& runs,
                                       const std::set<std::string>& across,
                                       const catalog::Catalog& catalog) {
  std::set<std::string> allowed = across;
  allowed.insert("parameters");
  spec::GroupComparison partial;
  const auto terms = comparable(runs, allowed, catalog, partial);
  std::set<std::string> swept;
  if (!terms) return swept;
  for (const std::string& name : varying_parameters(runs, *terms, across, catalog)) {
    const bool has_prefix = name.starts_with("param.");
    if (!terms->execution.contains(has_prefix ? name.substr(6) : name)) swept.insert(name);
  }
  return swept;
}

}  // namespace

std::optional<spec::Ranking> rank_sweep(const std::vector<RunRow>& all,
                                        const RankRequest& request,
                                        const catalog::Catalog& catalog) {
  const std::vector<std::string>& by = request.rules.by;
  const std::vector<RunRow> runs =
      counted_runs(all, request.named.with_keys(by, request.across), catalog);
  if (runs.size() < 2) return std::nullopt;
  try {
    const std::set<std::string> swept = swept_parameters(runs, request.across, catalog);
    const bool is_asked = by.empty() || std::ranges::any_of(by, [&](const std::string& key) {
                            return swept.contains(key) || swept.contains("param." + key);
                          });
    if (swept.empty() || !is_asked) return std::nullopt;
    return rank_runs(all, request, catalog);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) return std::nullopt;  // no metric has a direction
    throw;
  }
}

}  // namespace sabath::analysis

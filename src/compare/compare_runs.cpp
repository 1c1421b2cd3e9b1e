#include "arrays/array_pair.hpp"
#include "likely_cause.hpp"
#include "performance.hpp"
#include "repetition.hpp"
#include "result_items.hpp"
#include "verdict.hpp"

#include <sabath/compare/compare_runs.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace sabath::compare {
namespace {

std::vector<const Finding*> judged_of(const Findings& metrics, const Findings& outputs) {
  std::vector<const Finding*> judged;
  for (const auto* findings : {&metrics, &outputs}) {
    for (const Finding& finding : findings->items) {
      if (finding.item.judged) judged.push_back(&finding);
    }
  }
  return judged;
}

/// Files around the recipe's folder whose state differs, where both sides know it.
std::vector<std::string> differing_around(const Side& a, const Side& b) {
  if (a.around.empty() || b.around.empty()) return {};
  std::vector<std::pair<std::string, std::string>> states;  // that one side alone has
  std::ranges::set_symmetric_difference(a.around, b.around, std::back_inserter(states));
  std::set<std::string> names;
  for (const auto& [name, state] : states)
    names.insert(name);
  return {names.begin(), names.end()};
}

std::vector<spec::ItemComparison> items_of(Findings findings) {
  std::vector<spec::ItemComparison> items;
  items.reserve(findings.items.size());
  for (Finding& finding : findings.items)
    items.push_back(std::move(finding.item));
  return items;
}

void set_result(spec::Comparison& comparison, Judgement judgement) {
  comparison.result = judgement.verdict;
  comparison.reason = std::move(judgement.reason);
}

/// Says what undeclared metrics show, and the line that declares the first of them.
std::string only_undeclared_text(const std::vector<spec::ItemComparison>& metrics) {
  std::vector<std::string> texts;
  for (const spec::ItemComparison& item : metrics) {
    const auto& first = item.first_bitwise;
    texts.push_back(first                    ? fmt::format("{} differs at {} ({} against {})",
                                        item.name,
                                        first->where,
                                        first->text_a(),
                                        first->text_b())
                    : item.structure.empty() ? item.name + " is equal to the bit"
                                             : item.name + ": " + item.structure);
  }
  constexpr std::size_t shown = 3;
  const std::size_t more = texts.size() - std::min(texts.size(), shown);
  texts.resize(texts.size() - more);
  const std::string& name = metrics.front().name;
  return fmt::format(
      "not judged: {}{}; declare them in the recipe: \"metrics\": {{\"{}\": "
      "{{\"unit\": \"1\", \"better\": \"lower\"}}}}",
      fmt::join(texts, ", "),
      more == 0 ? "" : fmt::format(" and {} more", more),
      name.substr(name.find('/') + 1));
}

void set_first_divergence(spec::Comparison& comparison, const spec::ItemComparison& item) {
  comparison.first_divergence = item.first_bitwise;
  comparison.first_divergence_in = item.name;
}

void set_performance(spec::Comparison& comparison, Judgement judgement) {
  comparison.performance_verdict = judgement.verdict;
  comparison.performance_reason = std::move(judgement.reason);
}

/// Names judged metrics that both runs have from one execution.
void name_copies(const Side& a, const Side& b, spec::Comparison& comparison) {
  std::vector<std::string> names;
  for (const spec::ItemComparison& item : comparison.metrics) {
    const std::string stage = item.name.substr(0, item.name.find('/'));
    if (item.judged && spec::executor_of(a.record, stage) == spec::executor_of(b.record, stage))
      names.push_back(item.name);
  }
  if (names.empty()) return;
  comparison.reason += fmt::format("; of one execution, so that agreement proves nothing: {}",
                                   fmt::join(names, ", "));
}

/// Results of one execution agree, which proves nothing.
void withhold_pass_of_copies(const Side& a, const Side& b, spec::Comparison& comparison) {
  if (a.record.run_id == b.record.run_id) return;
  const std::set<std::string> runs = spec::executed_by(a.record);
  if (runs != spec::executed_by(b.record)) {
    if (comparison.result == spec::Verdict::pass) name_copies(a, b, comparison);
    return;
  }
  const std::string text = fmt::format(
      "both runs have the results of one execution, by {}: agreement of copies proves "
      "nothing; 'sabath run --fresh' executes cached stages again",
      fmt::join(runs, ", "));
  if (comparison.result == spec::Verdict::pass)
    set_result(comparison, {spec::Verdict::inconclusive, text});
  if (comparison.performance_verdict == spec::Verdict::pass)
    set_performance(comparison, {spec::Verdict::inconclusive, text});
}

}  // namespace

StageOrder::StageOrder(const spec::RunRecord& a, const spec::RunRecord& b) {
  for (const auto* record : {&a, &b}) {
    for (std::size_t i = 0; i < record->stages.size(); ++i) {
      const auto [known, is_new] = places_.emplace(record->stages[i].name, i);
      if (!is_new) known->second = std::min(known->second, i);
    }
  }
}

spec::Comparison compare_runs(const Side& a,
                              const Side& b,
                              const Rules& rules,
                              const Options& options) {
  const PairToCompare pair{a, b, rules, options};
  spec::Comparison comparison;
  comparison.a = a.record.run_id;
  comparison.b = b.record.run_id;
  comparison.differences = facet_differences(a.record, b.record);
  for (const auto& more :
       {session_differences(a.record, b.record), opened_differences(a.record, b.record)})
    comparison.differences.insert(comparison.differences.end(), more.begin(), more.end());
  const spec::Facet none;
  const auto environment_of = [&](const Side& side) -> const auto& {
    const spec::Facet* facet = side.record.facet("environment");
    return facet == nullptr ? none.items : facet->items;
  };
  comparison.environment = spec::environment_differences(environment_of(a), environment_of(b));
  comparison.repetition = repetition_of(comparison.differences, a.record, b.record);
  const Requirement required = required_rung(pair, comparison.repetition);
  comparison.required = required.rung;
  comparison.required_from = required.from;

  const auto forbidden =
      forbidden_differences(comparison.differences, a.record, b.record, options.across);
  if (!forbidden.empty()) {
    set_result(comparison, not_comparable(forbidden));
    set_performance(comparison, {spec::Verdict::not_comparable, "the runs are not comparable"});
    return comparison;
  }

  const StageOrder stages(a.record, b.record);
  Findings metrics = compare_metrics(pair, stages);
  Findings outputs = compare_outputs(pair, stages);
  add_envelope(pair, metrics, outputs);
  if (options.reference) comparison.reference = *options.reference == ReferenceSide::a ? "a" : "b";
  if (!options.envelope.empty()) comparison.envelope_runs = options.envelope.size();
  comparison.performance = performance_rows(pair);
  set_performance(comparison, judge_performance(a, b, comparison.performance));

  const std::vector<const Finding*> judged = judged_of(metrics, outputs);
  comparison.strongest = strongest_of_all(judged);
  const Finding* first = first_divergent(metrics.items, outputs.items, stages);
  if (first != nullptr) set_first_divergence(comparison, first->item);
  comparison.likely_cause = likely_cause({first,
                                          earlier_sign(metrics.items, first, stages),
                                          first_signs_of(metrics.items, outputs.items),
                                          differing_around(a, b),
                                          not_looked_at(a.record, b.record)},
                                         metrics.items,
                                         comparison.differences,
                                         a.record,
                                         b.record);
  std::vector<std::string> not_evaluated = metrics.not_evaluated;
  not_evaluated.insert(
      not_evaluated.end(), outputs.not_evaluated.begin(), outputs.not_evaluated.end());
  auto incomplete = judge_completeness(a, b);
  if (incomplete) {
    if (auto differs = judge_stopped(a, b, judged_of(metrics, {}), required))
      incomplete = std::move(differs);
  }
  set_result(comparison,
             incomplete ? *incomplete : judge_items(judged, not_evaluated, required, first));
  comparison.metrics = items_of(std::move(metrics));
  comparison.outputs = items_of(std::move(outputs));
  if (!incomplete && judged.empty() && not_evaluated.empty() && !comparison.metrics.empty())
    comparison.reason += "; " + only_undeclared_text(comparison.metrics);
  const std::vector<std::string> undeclared = undeclared_differences(comparison);
  if (comparison.result == spec::Verdict::pass && !undeclared.empty())
    comparison.reason += "; " + undeclared_text(undeclared);
  withhold_pass_of_copies(a, b, comparison);
  return comparison;
}

spec::Comparison compare_files(base::ArraySource& a,
                               base::ArraySource& b,
                               const std::optional<spec::Rung>& require,
                               const spec::Tolerance& tolerance) {
  const Requirement required{require.value_or(spec::Rung::tolerance),
                             require ? "--require" : "default"};
  Findings findings = compare_arrays("", a, b, {}, tolerance);
  const std::vector<const Finding*> judged = judged_of({}, findings);
  spec::Comparison comparison;
  comparison.required = required.rung;
  comparison.required_from = required.from;
  comparison.strongest = strongest_of_all(judged);
  set_result(comparison, judge_items(judged, findings.not_evaluated, required));
  const auto first = std::ranges::find_if(findings.items, [](const Finding& finding) {
    return finding.item.first_bitwise.has_value();
  });
  if (first != findings.items.end()) set_first_divergence(comparison, first->item);
  comparison.outputs = items_of(std::move(findings));
  return comparison;
}

std::vector<std::string> undeclared_differences(const spec::Comparison& comparison) {
  std::vector<std::string> names;
  for (const spec::ItemComparison& item : comparison.metrics) {
    if (!item.judged && (item.different > 0 || !item.structure.empty())) names.push_back(item.name);
  }
  std::ranges::sort(names);
  return names;
}

std::string undeclared_text(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 3;
  const std::size_t named = std::min(names.size(), most_named);
  std::string text = names.front();
  for (std::size_t i = 1; i < named; ++i)
    text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  if (names.size() > named) text += fmt::format(" and {} more", names.size() - named);
  return text + (names.size() == 1
                     ? " differs and is not judged, since the recipe does not declare it"
                     : " differ and are not judged, since the recipe does not declare them");
}

}  // namespace sabath::compare

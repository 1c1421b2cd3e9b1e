#include "verdict.hpp"

#include "arrays/value_differences.hpp"

#include <sabath/spec/run_record.hpp>
#include <sabath/spec/script_recipe.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::compare {
namespace {

std::string values_text(const spec::Divergence& at) {
  std::string text = fmt::format("{} against {}", at.text_a(), at.text_b());
  if (std::isfinite(at.relative)) text += fmt::format(", relative {:.3g}", at.relative);
  return text;
}

/// How an item breaks the rung, with the first such place.
std::string breach(const spec::ItemComparison& item, spec::Rung required) {
  if (!item.structure.empty()) return fmt::format("{}: {}", item.name, item.structure);
  if (item.first_envelope) {
    return fmt::format("{} leaves the envelope of perturbed reruns at {} ({})",
                       item.name,
                       item.first_envelope->where,
                       values_text(*item.first_envelope));
  }
  switch (required) {
    case spec::Rung::bitwise:
      return fmt::format("{} is not equal to the bit at {} ({})",
                         item.name,
                         item.first_bitwise->where,
                         values_text(*item.first_bitwise));
    case spec::Rung::ulp:
      return fmt::format("{} is more than {} ULP apart at {} ({})",
                         item.name,
                         *item.tolerance.ulp,
                         item.first_ulp->where,
                         values_text(*item.first_ulp));
    case spec::Rung::tolerance:
      break;
  }
  return fmt::format("{} is beyond its tolerance at {} ({}; allowed {} relative, {} absolute)",
                     item.name,
                     item.first_tolerance->where,
                     values_text(*item.first_tolerance),
                     *item.tolerance.relative,
                     *item.tolerance.absolute);
}

std::string required_text(const Requirement& required) {
  return fmt::format("required by {}: {}",
                     required.from,
                     required.or_envelope ? "envelope" : spec::to_string(required.rung));
}

std::optional<std::string> unfinished(const spec::RunRecord& record) {
  if (record.state != spec::RunState::ok) {
    return fmt::format("run {} is '{}'", record.run_id, spec::to_string(record.state));
  }
  if (!record.only_stage.empty()) {
    return fmt::format("run {} made only the stage '{}'", record.run_id, record.only_stage);
  }
  return std::nullopt;
}

/// "bitwise until step 3 (epoch 1) of train/loss, tolerance holds: ".
std::string until_text(const Finding* first, std::string_view strongest) {
  if (first == nullptr || !first->item.first_bitwise) return {};
  const spec::ItemComparison& item = first->item;
  const bool is_at_once = item.first_bitwise->position <= 1 || item.different == item.compared;
  return fmt::format("{} {} of {}, {} holds: ",
                     is_at_once ? "not bitwise from" : "bitwise until",
                     item.first_bitwise->where,
                     item.name,
                     strongest);
}

std::string pass_reason(const std::vector<const Finding*>& judged,
                        const Requirement& required,
                        const Finding* first) {
  const std::optional<spec::Rung> strongest = strongest_of_all(judged);
  const std::string subject =
      judged.size() == 1 ? judged.front()->item.name : fmt::format("all {} results", judged.size());
  const char* verb = judged.size() == 1 ? "is" : "are";
  if (!strongest) {
    return until_text(first, "the envelope") +
           fmt::format("{} {} within the envelope of perturbed reruns ({})",
                       subject,
                       verb,
                       required_text(required));
  }
  switch (*strongest) {
    case spec::Rung::bitwise:
      return fmt::format("{} {} equal to the bit ({})", subject, verb, required_text(required));
    case spec::Rung::ulp:
      return until_text(first, spec::to_string(*strongest)) +
             fmt::format("{} {} equal within ULP, not to the bit ({})",
                         subject,
                         verb,
                         required_text(required));
    case spec::Rung::tolerance:
      break;
  }
  return until_text(first, spec::to_string(*strongest)) +
         fmt::format("{} {} equal within tolerance ({})", subject, verb, required_text(required));
}

}  // namespace

std::optional<Judgement> judge_completeness(const Side& a, const Side& b) {
  std::set<std::string> reasons;
  for (const auto* side : {&a, &b}) {
    if (const auto reason = unfinished(side->record)) reasons.insert(*reason);
  }
  if (reasons.empty()) return std::nullopt;

  return Judgement{spec::Verdict::inconclusive,
                   fmt::format("{}: only complete runs are judged", fmt::join(reasons, " and "))};
}

std::optional<Judgement> judge_stopped(const Side& a,
                                       const Side& b,
                                       const std::vector<const Finding*>& judged,
                                       const Requirement& required) {
  const auto is_judged = [](const Side& side) {
    const spec::RunState state = side.record.state;
    return state == spec::RunState::ok || state == spec::RunState::stopped;
  };
  const bool has_stopped =
      a.record.state == spec::RunState::stopped || b.record.state == spec::RunState::stopped;
  if (!has_stopped || !is_judged(a) || !is_judged(b) || required.or_envelope) return std::nullopt;
  for (const Finding* finding : judged) {
    if (!first_break(finding->item, required.rung)) continue;
    spec::ItemComparison item = finding->item;
    item.structure.clear();  // records after the stop do not count
    const bool is_a = a.record.state == spec::RunState::stopped;
    return Judgement{spec::Verdict::fail,
                     fmt::format("{}; {}; run {} was stopped before its end",
                                 breach(item, required.rung),
                                 required_text(required),
                                 (is_a ? a : b).record.run_id)};
  }
  return std::nullopt;
}

std::optional<spec::Divergence> first_break(spec::ItemComparison item, spec::Rung required) {
  item.structure.clear();
  item.missing = 0;
  const auto strongest = strongest_rung(item);
  if (strongest && *strongest >= required) return std::nullopt;
  switch (required) {
    case spec::Rung::bitwise:
      return item.first_bitwise;
    case spec::Rung::ulp:
      return item.first_ulp;
    case spec::Rung::tolerance:
      break;
  }
  return item.first_tolerance;
}

Requirement required_rung(const PairToCompare& pair, spec::Repetition repetition) {
  const auto& [a, b, rules, options] = pair;
  if (options.require) return {*options.require, options.require_from, false};
  if (!options.envelope.empty()) return {spec::Rung::tolerance, "--envelope", true};
  if (rules.require) return {*rules.require, "the recipe", false};
  const bool deterministic = a.record.deterministic && b.record.deterministic;
  if (repetition == spec::Repetition::repeat && deterministic) {
    return {spec::Rung::bitwise, "a repeat of a deterministic recipe", false};
  }
  return {spec::Rung::tolerance, "default", false};
}

Judgement not_comparable(const std::vector<spec::FacetDifference>& forbidden) {
  const auto name_of = [](const spec::FacetDifference& one) {
    return fmt::format("{} {}", one.facet == "parameters" ? "parameter" : one.facet, one.item);
  };
  const auto quoted = [](const std::string& value) {
    if (value == spec::empty_value) return value;
    return value.empty() ? std::string("(absent)") : "'" + value + "'";
  };
  // Of commands without a recipe the words and scripts say more than the digest of all that.
  const auto is_telling = [](const spec::FacetDifference& one) {
    return one.facet == "parameters" &&
           (one.item == spec::words_parameter || one.item.starts_with(spec::script_parameter));
  };
  const bool is_other = std::ranges::any_of(forbidden, [](const spec::FacetDifference& one) {
    return one.facet == "recipe" && one.item == "definition";
  });
  auto telling = std::ranges::find_if(forbidden, is_telling);
  if (telling == forbidden.end() || !is_other) telling = forbidden.begin();
  const spec::FacetDifference& first = *telling;
  std::string reason = fmt::format("{} differs ({} in A, {} in B), which affects the result",
                                   name_of(first),
                                   quoted(first.a),
                                   quoted(first.b));
  const spec::FacetDifference& other =
      &first == &forbidden.back() ? forbidden.front() : forbidden.back();
  if (forbidden.size() == 2) reason += fmt::format("; so does {}", name_of(other));
  if (forbidden.size() > 2) reason += fmt::format("; so do {} others", forbidden.size() - 1);
  std::vector<std::string> across;
  for (const spec::FacetDifference& one : forbidden) {
    const std::string& name = one.facet == "parameters" ? one.item : one.facet;
    if (std::ranges::find(across, name) == across.end()) across.push_back(name);
  }
  reason += fmt::format("; --across {} compares them nevertheless", fmt::join(across, ","));
  return {spec::Verdict::not_comparable, reason};
}

std::optional<spec::Rung> strongest_of_all(const std::vector<const Finding*>& judged) {
  std::optional<spec::Rung> weakest;
  for (const Finding* finding : judged) {
    const auto& strongest = finding->item.strongest;
    if (!strongest) return std::nullopt;
    weakest = weakest ? std::min(*weakest, *strongest) : *strongest;
  }
  return weakest;
}

Judgement judge_items(const std::vector<const Finding*>& judged,
                      std::vector<std::string> not_evaluated,
                      const Requirement& required,
                      const Finding* first_divergent) {
  std::vector<const Finding*> broken;
  for (const Finding* finding : judged) {
    const spec::ItemComparison& item = finding->item;
    const bool holds = item.strongest && *item.strongest >= required.rung;
    if (holds || (required.or_envelope && item.within_envelope == true)) continue;
    if (!item.undecided || required.rung == spec::Rung::bitwise) {
      broken.push_back(finding);
    } else {
      not_evaluated.push_back(item.name + ": " + *item.undecided);
    }
  }
  if (!broken.empty()) {
    std::string reason = breach(broken.front()->item, required.rung);
    if (broken.size() == 2) reason += "; 1 more result fails";
    if (broken.size() > 2) reason += fmt::format("; {} more results fail", broken.size() - 1);
    return {spec::Verdict::fail, fmt::format("{}; {}", reason, required_text(required))};
  }
  if (!not_evaluated.empty()) {
    return {spec::Verdict::inconclusive, fmt::format("{}", fmt::join(not_evaluated, "; "))};
  }
  if (judged.empty()) {
    return {spec::Verdict::inconclusive,
            "nothing to judge: neither a declared result metric nor an output"};
  }
  return {spec::Verdict::pass, pass_reason(judged, required, first_divergent)};
}

}  // namespace sabath::compare

#pragma once

#include "finding.hpp"

#include <sabath/compare/comparison_input.hpp>
#include <sabath/compare/rules.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// Two runs and the terms of their comparison.
struct PairToCompare {
  const Side& a;
  const Side& b;
  const Rules& rules;
  const Options& options;
};

/// Required rung of a pair, and its source.
struct Requirement {
  spec::Rung rung = spec::Rung::tolerance;
  std::string from{};
  bool or_envelope = false;  ///< the envelope is accepted instead
};

Requirement required_rung(const PairToCompare& pair, spec::Repetition repetition);

struct Judgement {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
};

/// INCONCLUSIVE where a run is not complete; nothing where both are.
std::optional<Judgement> judge_completeness(const Side& a, const Side& b);

/// First place among the records of both sides that breaks the rung; nothing: they hold it.
std::optional<spec::Divergence> first_break(spec::ItemComparison item, spec::Rung required);

/// FAIL where a record of both sides differs, and one of them was stopped; else nothing.
std::optional<Judgement> judge_stopped(const Side& a,
                                       const Side& b,
                                       const std::vector<const Finding*>& judged,
                                       const Requirement& required);

/// Verdict on a pair that must not be compared: "parameter learning_rate differs ...".
Judgement not_comparable(const std::vector<spec::FacetDifference>& forbidden);

/// Weakest rung that judged items hold; nothing when one holds none, or without items.
std::optional<spec::Rung> strongest_of_all(const std::vector<const Finding*>& judged);

/// FAIL where a required rung broke. INCONCLUSIVE where something could not be evaluated, or
/// nothing is to be judged. Else PASS.
Judgement judge_items(const std::vector<const Finding*>& judged,
                      std::vector<std::string> not_evaluated,
                      const Requirement& required,
                      const Finding* first_divergent = nullptr);

}  // namespace sabath::compare

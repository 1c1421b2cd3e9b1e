#pragma once

#include "finding.hpp"

#include <sabath/compare/compare_runs.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// What a pair must hold, and who says so.
struct Requirement {
  spec::Rung rung = spec::Rung::tolerance;
  std::string from{};
  bool or_envelope = false;  ///< what does not hold it may lie within the envelope instead
};

Requirement required_rung(const Side& a,
                          const Side& b,
                          const Rules& rules,
                          const Options& options,
                          spec::Repetition repetition);

struct Judgement {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
};

/// That only complete runs are judged, where one is not.
std::optional<Judgement> judge_completeness(const Side& a, const Side& b);

/// "parameter learning_rate differs ...": the verdict on a pair that may not be compared.
Judgement not_comparable(const std::vector<spec::FacetDifference>& forbidden);

/// The weakest of the rungs that judged items hold; nothing when one holds none or there is none.
std::optional<spec::Rung> strongest_of_all(const std::vector<const Finding*>& judged);

/// Runs that did not finish are never judged; a required rung that broke is FAIL; what could not be
/// evaluated, or nothing at all to judge, is INCONCLUSIVE; the rest is PASS.
Judgement judge(const Side& a,
                const Side& b,
                const std::vector<const Finding*>& judged,
                const std::vector<std::string>& not_evaluated,
                const Requirement& required,
                const Finding* first_divergent = nullptr);
/// The same of items alone.
Judgement judge_items(const std::vector<const Finding*>& judged,
                      std::vector<std::string> not_evaluated,
                      const Requirement& required,
                      const Finding* first_divergent = nullptr);

}  // namespace sabath::compare

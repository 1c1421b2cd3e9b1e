#include "arrays/array_pair.hpp"
#include "verdict.hpp"

#include <sabath/compare/compare_files.hpp>

#include <algorithm>

namespace sabath::compare {

spec::Comparison compare_files(base::ArraySource& a,
                               base::ArraySource& b,
                               const std::optional<spec::Rung>& require,
                               const spec::Tolerance& tolerance) {
  const Requirement required{require.value_or(spec::Rung::tolerance),
                             require ? "--require" : "default"};
  Findings findings = compare_arrays("", a, b, {}, tolerance);
  std::vector<const Finding*> judged;
  for (const Finding& finding : findings.items)
    judged.push_back(&finding);
  const Judgement judgement = judge_items(judged, findings.not_evaluated, required);
  spec::Comparison comparison;
  comparison.required = required.rung;
  comparison.required_from = required.from;
  comparison.strongest = strongest_of_all(judged);
  comparison.result = judgement.verdict;
  comparison.reason = judgement.reason;
  const auto first = std::find_if(judged.begin(), judged.end(), [](const Finding* finding) {
    return finding->item.first_bitwise.has_value();
  });
  if (first != judged.end()) {
    comparison.first_divergence = (*first)->item.first_bitwise;
    comparison.first_divergence_in = (*first)->item.name;
  }
  for (Finding& finding : findings.items)
    comparison.outputs.push_back(std::move(finding.item));
  return comparison;
}

}  // namespace sabath::compare

#pragma once

#include "finding.hpp"
#include "first_signs.hpp"

#include <sabath/spec/comparison.hpp>

#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::compare {

/// Finds the judged item in which two runs differ first: by stage, within a stage metrics by their
/// earliest step, then outputs. Null where nothing differs.
const Finding* first_divergent(const std::vector<Finding>& metrics,
                               const std::vector<Finding>& outputs,
                               const StageOrder& stages);

/// Where two runs begin to differ.
struct Beginning {
  const Finding* first = nullptr;    ///< the judged item; null: none differs
  const Finding* earlier = nullptr;  ///< an undeclared metric that differs before that
  FirstSigns first_signs{};          ///< signs of the first steps
  /// Files around the recipe's folder whose state differs. They count only where nothing else
  /// differs: most repositories have files that a run does not use.
  std::vector<std::string> around{};
  std::vector<std::string> not_looked_at{};  ///< where a difference could still hide
};

/// Names the likely cause at the earliest step where the runs differ: code,
/// environment, data order, initial weights, first loss, first gradient norm, later steps. Says
/// what differs, where the results diverge, and what that suggests. Empty where nothing differs.
std::string likely_cause(const Beginning& beginning,
                         const std::vector<Finding>& metrics,
                         const std::vector<spec::FacetDifference>& differences,
                         const spec::RunRecord& a,
                         const spec::RunRecord& b);

}  // namespace sabath::compare

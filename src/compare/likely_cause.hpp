#pragma once

#include "finding.hpp"
#include "stage_order.hpp"
#include "statistics/cascade.hpp"

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// The judged item in which two runs part first: by stage, within a stage metrics by their earliest
/// step and then outputs. Null where nothing differs.
const Finding* first_divergent(const std::vector<Finding>& metrics,
                               const std::vector<Finding>& outputs,
                               const StageOrder& stages);

/// Where two runs part.
struct Beginning {
  const Finding* first = nullptr;    ///< the judged item; null: none differs
  const Finding* earlier = nullptr;  ///< a metric that is not declared and parts before that
  Cascade cascade{};                 ///< what the first steps tell
  /// Files around the recipe's folder that were not in the same state. They count where nothing
  /// else differs: most repositories have much that a run does not use.
  std::vector<std::string> around{};
  std::vector<std::string> not_looked_at{};  ///< where a difference could hide all the same
};

/// The earliest rung of the cascade (code, environment, data order, initial weights, first loss,
/// first gradient norm, later steps) at which two runs differ, in words: what differs between them,
/// where the results part, and what that makes likely. Empty where nothing differs.
std::string likely_cause(const Beginning& beginning,
                         const std::vector<Finding>& metrics,
                         const std::vector<spec::FacetDifference>& differences,
                         const spec::RunRecord& a,
                         const spec::RunRecord& b);

}  // namespace sabath::compare

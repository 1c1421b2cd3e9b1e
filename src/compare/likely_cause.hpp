#pragma once

#include "finding.hpp"
#include "stage_order.hpp"

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

/// The earliest rung of the cascade (code, environment, data order, initial weights, first value,
/// later steps) at which two runs differ, in words: what differs between them, where the results
/// part, and what that makes likely.
std::string likely_cause(const Finding& first,
                         const std::vector<Finding>& metrics,
                         const std::vector<spec::FacetDifference>& differences,
                         const spec::RunRecord& a,
                         const spec::RunRecord& b);

}  // namespace sabath::compare

#pragma once

#include <sabath/analysis/check_samples.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>

#include <optional>

namespace sabath::analysis {

/// Makes cases without a baseline: compares each run with the first of its seed, by all rungs; a
/// case for each judged metric and output. What cannot be compared is INCONCLUSIVE.
void add_agreement(const SampleGroup& group,
                   std::optional<spec::Rung> require,
                   spec::CheckGroup& checked);

/// A baseline has values of metrics alone. Where a rung is required, holds the outputs of runs
/// against the baseline's run of their seed that is in this home; a case for each. Else notes that
/// they are not judged.
void judge_outputs(const spec::BaselineEntry& entry,
                   const SampleGroup& group,
                   std::optional<spec::Rung> require,
                   const catalog::Catalog& catalog,
                   spec::CheckGroup& checked);

/// A failed or stopped run is a FAIL, one that did not end or came from a table INCONCLUSIVE.
spec::CheckCase incomplete_case(const catalog::RunRow& row);

/// Sets the verdicts of groups and of the whole from their cases. Sorts the cases, the worst first.
void conclude(spec::CheckReport& report);

}  // namespace sabath::analysis

#pragma once

#include <sabath/analysis/judged_runs.hpp>
#include <sabath/spec/check_report.hpp>

#include <optional>

namespace sabath::analysis {

/// Without a baseline: each run with the first of its seed, by the whole ladder; a case for each
/// metric and output that is judged. What has nothing to be held against is INCONCLUSIVE.
void add_agreement(const JudgedGroup& group,
                   std::optional<spec::Rung> require,
                   spec::CheckGroup& checked);

/// Verdicts of the groups and of the whole from their cases; sorts the cases, the worst first.
void conclude(spec::CheckReport& report);

}  // namespace sabath::analysis

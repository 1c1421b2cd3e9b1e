#pragma once

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/analysis/study_power.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_state.hpp>
#include <sabath/spec/study.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::live {

/// The state of a study on a terminal: the table of its runs, and how to continue.
std::string study_text(const analysis::StudyOutcome& outcome);

/// "20 runs: 3 ok, 4 running, 12 planned (waits: PENDING (Resources)), 1 not run".
std::string counts_line(const std::map<spec::RunState, std::size_t>& counts,
                        const std::string& why_planned,
                        std::size_t left);

/// What `run --dry-run --json` prints.
std::string json_dry_run(const spec::RunPlan& plan,
                         const std::vector<spec::StudyPoint>& points,
                         const std::optional<analysis::StudyPower>& power);

}  // namespace sabath::live

#pragma once

#include <sabath/launch/scheduler.hpp>
#include <sabath/spec/run_state.hpp>
#include <sabath/spec/scheduler.hpp>

#include <string>

namespace sabath::batch {

/// Returns true where a job with this reason to wait does not start by itself, as a rule.
bool is_stuck(const spec::SchedulerDescription& scheduler, const std::string& reason);

/// Returns the state of a run whose job ended in `phase` before the run wrote a record.
spec::RunState state_after(spec::JobPhase phase);
/// Returns the same in words.
std::string why_after(const launch::JobView& view);

}  // namespace sabath::batch

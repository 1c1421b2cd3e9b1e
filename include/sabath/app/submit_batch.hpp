#pragma once

#include <sabath/app/batch_files.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <stop_token>
#include <string>

namespace sabath::app {

/// By what the scheduler's job of a step (from 1) is found again.
std::string comment_of(const spec::BatchPlan& plan, std::size_t step);

/// Hands to the scheduler what of a batch it has not got: a step that was accepted before anybody
/// could write that down is found by its comment (`look_first`) and not submitted twice. `program`
/// is this sabath, for sites that name none. Throws as launch::Scheduler::submit.
spec::BatchJobs submit_batch(const BatchFiles& files,
                             const spec::BatchPlan& plan,
                             launch::Scheduler& scheduler,
                             const std::filesystem::path& program,
                             bool look_first,
                             base::Clock& clock,
                             const std::stop_token& stop);

}  // namespace sabath::app

#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <stop_token>
#include <string>

namespace sabath::batch {

/// Returns the comment by which the scheduler's job of a step (from 1) is found again.
std::string comment_of(const spec::BatchPlan& plan, std::size_t step);

/// Returns "steps 2 to 3 were never handed in" for a batch whose first `known` jobs the scheduler
/// has, and that gets no more.
std::string never_handed_in(const spec::BatchPlan& plan, std::size_t known);

/// Submits a batch to the scheduler. `program` is this sabath, for sites that name none. Throws as
/// launch::Scheduler::submit; writes down what was accepted before.
spec::BatchJobs submit_batch(const home::BatchFiles& files,
                             const spec::BatchPlan& plan,
                             launch::Scheduler& scheduler,
                             const std::filesystem::path& program,
                             base::Clock& clock,
                             const std::stop_token& stop);

}  // namespace sabath::batch

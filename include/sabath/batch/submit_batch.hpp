#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <stop_token>
#include <string>

namespace sabath::batch {

/// By what the scheduler's job of a step (from 1) is found again.
std::string comment_of(const spec::BatchPlan& plan, std::size_t step);

/// Of a batch of which the scheduler has got the first `known` jobs and gets no more: "steps 2 to 3
/// were never handed in".
std::string never_handed_in(const spec::BatchPlan& plan, std::size_t known);

/// Hands a batch to the scheduler. `program` is this sabath, for sites that name none. Throws as
/// launch::Scheduler::submit; what was accepted before that is written down.
spec::BatchJobs submit_batch(const home::BatchFiles& files,
                             const spec::BatchPlan& plan,
                             launch::Scheduler& scheduler,
                             const std::filesystem::path& program,
                             base::Clock& clock,
                             const std::stop_token& stop);

}  // namespace sabath::batch

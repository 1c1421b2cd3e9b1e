#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/job.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace sabath::execution {

/// Returns what a scheduler's job reports of itself, in SABATH_JOB_ID, SABATH_JOB_RESTARTS and
/// SABATH_JOB_NODES of its script, or in Slurm's own variables; nothing where `environment` shows
/// no job. Leaves `batch`, `node` and the kernel's limits empty.
std::optional<spec::JobFacts> job_of(const std::string& scheduler,
                                     const base::Environment& environment);

/// Returns true where a signal may have been the scheduler's warning that the job's time is nearly
/// over. A cancellation sends the same signal; SABATH_JOB_END has the end of the time.
bool is_nearly_over(const std::optional<std::chrono::seconds>& limit,
                    std::chrono::seconds warning,
                    base::WallTime now,
                    const base::Environment& environment = base::current_environment());

/// Returns true where the job reports how often it was started before.
bool counts_restarts(const std::optional<spec::JobFacts>& job,
                     const base::Environment& environment = base::current_environment());

/// Returns items of the `launch` facet: the resources of a batch's jobs, step by step ("2/1").
std::map<std::string, std::string> launch_items(const spec::BatchPlan& batch);

/// Returns the hardware threads that this process may use, as the kernel writes them; empty where
/// it does not.
std::string cpus_allowed();

}  // namespace sabath::execution

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

/// What a scheduler's job says of itself, in SABATH_JOB_ID, SABATH_JOB_RESTARTS and
/// SABATH_JOB_NODES of its script, or in Slurm's own variables; nothing where no job can be seen in
/// `environment`. `batch`, `node` and what the kernel allows are left empty.
std::optional<spec::JobFacts> job_of(const std::string& scheduler,
                                     const base::Environment& environment);

/// May a signal have been the scheduler's warning that the job's time is nearly over? It is the
/// same signal as a cancellation; SABATH_JOB_END says when the time is over.
bool is_nearly_over(const std::optional<std::chrono::seconds>& limit,
                    std::chrono::seconds warning,
                    base::WallTime now,
                    const base::Environment& environment = base::current_environment());

/// Does the job say how often it was started before?
bool counts_restarts(const std::optional<spec::JobFacts>& job,
                     const base::Environment& environment = base::current_environment());

/// Items of the `launch` facet: what jobs of a batch have, step by step ("2/1").
std::map<std::string, std::string> launch_items(const spec::BatchPlan& batch);

/// The hardware threads that this process may use, as the kernel writes them; empty: it does not.
std::string cpus_allowed();

}  // namespace sabath::execution

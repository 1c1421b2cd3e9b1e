#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/home/run_files.hpp>

#include <string>

namespace sabath::home {

/// A run that a signal interrupted in a scheduler's job has no record.json yet, since the job may
/// come back and go on with it; its attempt has one. Makes that the run's, so that nothing goes on
/// with it any more: for whoever knows that the job does not come back. False where there is none,
/// or the run has its record already. Throws Error{storage}.
bool close_interrupted(const RunFiles& files);

/// Says in its status how a run stands that nobody executes and that has no record, and why; and
/// notes it for the catalog. Throws Error{storage}.
void close_run(const RunFiles& files,
               spec::RunState state,
               const std::string& why,
               const base::Clock& clock);

}  // namespace sabath::home

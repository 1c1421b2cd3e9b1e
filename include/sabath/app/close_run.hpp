#pragma once

#include <sabath/app/run_files.hpp>

namespace sabath::app {

/// A run that a signal interrupted in a scheduler's job has no record.json yet, since the job may
/// come back and go on with it; its attempt has one. Makes that the run's, so that nothing goes on
/// with it any more: for whoever knows that the job does not come back. False where there is none,
/// or the run has its record already. Throws Error{storage}.
bool close_interrupted(const RunFiles& files);

}  // namespace sabath::app

#pragma once

#include "commands/run/run.hpp"

namespace sabath::cli {

/// Whether the words after `run` are a command, after "--".
bool is_direct(const RunOptions& options);
/// `run -- COMMAND`: records a run of a command without a recipe. Returns the exit status.
int run_direct(const RunOptions& options, Workspace& workspace);

}  // namespace sabath::cli

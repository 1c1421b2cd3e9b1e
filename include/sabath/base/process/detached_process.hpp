#pragma once

#include <sabath/base/process/command.hpp>

namespace sabath::base {

/// Starts a command that outlives this process, with `log` for both its outputs. Returns its pid;
/// the caller learns its end. Of `command` counts what to start, where, and with which variables.
/// Throws Error{launch}.
int start_detached(Command command, int log);

}  // namespace sabath::base

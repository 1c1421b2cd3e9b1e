#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// What `sabath exec --copies WHAT ATTEMPT_FOLDER` does on each node of a job, for the `exec` that
/// had it started: "make" copies what stages read to the node's own disk, "remove" takes it away.
/// Returns what a person should know. Throws Error{usage|interrupted}.
std::vector<std::string> execute_copies(const std::string& what,
                                        const std::filesystem::path& attempt,
                                        base::ProcessRunner& processes,
                                        base::Clock& clock,
                                        const std::stop_token& stop);

}  // namespace sabath::app

#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Clears a node name that belongs to `exec`'s node: some starters hand its variables to ranks
/// elsewhere. For a process with a single thread.
void forget_others_name();

/// What `sabath exec --copies WHAT FILE` does on each node of a job, for the `exec` that wrote the
/// file. "make" copies what stages read to the node's own disk, "remove" removes it. Does nothing
/// where another process of the node was quicker. Call forget_others_name() before. Returns lines
/// for that `exec`. Throws Error{usage|storage|interrupted}.
std::vector<std::string> execute_copies(const std::string& what,
                                        const std::filesystem::path& file,
                                        base::ProcessRunner& processes,
                                        base::Clock& clock,
                                        const std::stop_token& stop);

}  // namespace sabath::execution

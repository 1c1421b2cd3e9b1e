#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Some starters hand the variables of `exec`'s node to ranks elsewhere: from here on this process
/// has no name of a node that it is not on. For one with a single thread.
void forget_others_name();

/// What `sabath exec --copies WHAT FILE` does on each node of a job, for the `exec` that wrote the
/// file: "make" copies what stages read to the node's own disk, "remove" takes it away. Does
/// nothing where another process of the node was quicker. Returns lines for that
/// `exec`. Wants forget_others_name() before. Throws Error{usage|storage|interrupted}.
std::vector<std::string> execute_copies(const std::string& what,
                                        const std::filesystem::path& file,
                                        base::ProcessRunner& processes,
                                        base::Clock& clock,
                                        const std::stop_token& stop);

}  // namespace sabath::execution

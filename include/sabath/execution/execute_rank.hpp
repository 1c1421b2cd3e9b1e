#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::execution {

/// What `sabath exec --rank RUN_DIR STAGE -- ARGV` does: one rank of a parallel stage becomes ARGV,
/// with a SABATH_METRICS of its own. The first rank of a node that `exec` cannot see writes the
/// node's facts (host-<node>.json, beside those of `exec`) and the usage of its ranks
/// (STAGE/node-<node>.json). It lives as long as its command, whose exit status or signal is its
/// own, and passes signals on. Returns an exit status, if at all. Throws Error{launch|not_found}.
/// Call it in a process with one thread, before it has opened anything.
int execute_rank(const std::filesystem::path& run_directory,
                 const std::string& stage,
                 const std::vector<std::string>& argv);

}  // namespace sabath::execution

#pragma once

#include <sabath/planning/again_command.hpp>
#include <sabath/planning/plan_run.hpp>

namespace sabath::planning {

/// "sabath" with each further folder that its documents were looked for in.
std::vector<std::string> program_words(const home::Folders& folders);

/// The command that does a run again: its variables, all of `sabath run` that decides its result,
/// and how many CPUs and GPUs it was bound to, by --jobs or by its caller. For a shell.
std::string again_command(const RunRequest& request,
                          const home::Folders& folders,
                          const spec::ParameterValues& parameters,
                          const spec::Seed& seed);

}  // namespace sabath::planning

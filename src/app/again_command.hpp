#pragma once

#include <sabath/app/again_command.hpp>
#include <sabath/app/plan_run.hpp>

namespace sabath::app {

/// "sabath" with each further folder that its documents were looked for in.
std::vector<std::string> program_words(const Folders& folders);

/// The command that does a run again: its variables, all of `sabath run` that decides its result,
/// and how many CPUs and GPUs it was bound to, by --jobs or by its caller. For a shell.
std::string again_command(const RunRequest& request,
                          const Folders& folders,
                          const spec::ParameterValues& parameters,
                          const spec::Seed& seed);

}  // namespace sabath::app

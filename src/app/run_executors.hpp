#pragma once

#include <sabath/launch/launcher.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::app {

/// Which of these runs somebody executes now, and as which process: by their status, and where that
/// says only that they are planned, by the table of processes, since `exec` tells who it is a
/// moment after its start. Runs that are not in the answer are executed by nobody and never will
/// be, if who planned them is gone. Throws Error{launch} for one that may run on another machine.
std::map<std::string, launch::JobId> executors_of(const std::vector<std::filesystem::path>& runs);

}  // namespace sabath::app

#pragma once

#include <sabath/launch/launcher.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::execution {

/// Which of these runs somebody executes now, and as which process: by their status, and where that
/// says only that they are planned, by the table of processes, since `exec` tells who it is a
/// moment after its start. Runs that are not in the answer are executed by nobody and never will
/// be, if who planned them is gone. Throws Error{launch} for one that may run on another machine;
/// with `take_over` such a run that nobody has written to for `longest_silence` is closed as lost.
std::map<std::string, launch::JobId> executors_of(const std::vector<std::filesystem::path>& runs,
                                                  bool take_over = false);

/// What the runs of this user that are executed on this machine now have to themselves, by run id.
std::map<std::string, spec::Place> places_taken_here();

}  // namespace sabath::execution

#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/spec/code_state.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::planning {

/// Keeps the code of the request's run in its folder: the recipe's folder (CodeFolder) as an
/// archive where it is small enough, and what git says of it, or said of the `original` or of a
/// `sibling`. git is started only where there is a repository; it writes nothing there, and starts
/// nothing that the repository's settings name. Throws Error{storage|interrupted}.
spec::CodeState keep_code(const RunRequest& request,
                          const std::filesystem::path& run_directory,
                          const std::filesystem::path& state_directory,
                          base::ProcessRunner& processes,
                          const std::stop_token& stop);

}  // namespace sabath::planning

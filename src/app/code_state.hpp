#pragma once

#include <sabath/base/process.hpp>
#include <sabath/spec/code_state.hpp>

#include <filesystem>

namespace sabath::app {

/// Keeps the code of a run in its folder: the recipe's folder as an archive where it is small
/// enough, and what git says of it. git is started only where there is a repository; its own
/// settings cannot make it start other programs. Throws Error{storage}.
spec::CodeState keep_code(const std::filesystem::path& recipe_directory,
                          const std::filesystem::path& run_directory,
                          base::ProcessRunner& processes);

}  // namespace sabath::app

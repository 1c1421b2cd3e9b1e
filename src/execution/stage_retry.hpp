#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath::execution {

/// Returns the rule of `retry` that names how a command ended, in words; nothing where no rule
/// does. `folder` has the logs of the command.
std::optional<std::string> why_again(const spec::Retry& retry,
                                     const base::ProcessResult& process,
                                     const std::filesystem::path& folder);

/// Moves what a try left in the stage's directory to try-<number> in it, and empties the output
/// directory. Throws Error{storage}.
void put_aside(int number,
               const std::filesystem::path& folder,
               const std::filesystem::path& outputs);

}  // namespace sabath::execution

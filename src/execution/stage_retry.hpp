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

/// At most so many bytes of the end of a log; empty where it cannot be read.
std::string end_of(const std::filesystem::path& log, std::size_t most_bytes);

/// What of `retry` names the way in which a command ended, in words; nothing: none does. `folder`
/// has its logs.
std::optional<std::string> why_again(const spec::Retry& retry,
                                     const base::ProcessResult& process,
                                     const std::filesystem::path& folder);

/// Moves what a try left in the stage's folder to its sub-folder try-<number>, and empties the
/// output folder. Throws Error{storage}.
void put_aside(int number,
               const std::filesystem::path& folder,
               const std::filesystem::path& outputs);

/// False where a stop was requested meanwhile, and then at once.
bool wait_unless_stopped(std::chrono::nanoseconds duration, const std::stop_token& stop);

}  // namespace sabath::execution

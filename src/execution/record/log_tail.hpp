#pragma once

#include <filesystem>
#include <string>

namespace sabath::execution {

/// The last 20 lines of a log, at most 4 KiB of them, made safe for a terminal. Empty where it
/// cannot be read.
std::string tail_of(const std::filesystem::path& log);

}  // namespace sabath::execution

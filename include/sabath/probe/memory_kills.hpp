#pragma once

#include <cstdint>
#include <filesystem>

namespace sabath::probe {

/// Returns how many processes the kernel has killed for lack of memory in this process's control
/// groups and in `group` (may be empty). Reads "oom_kill" of memory.events (version 2) and
/// memory.oom_control (version 1, Linux 4.13). The number only grows; 0 where nothing counts.
std::uint64_t memory_kills(const std::filesystem::path& group,
                           const std::filesystem::path& root = "/");

}  // namespace sabath::probe

#pragma once

#include <cstdint>
#include <filesystem>

namespace sabath::probe {

/// How many processes the kernel has ended for want of memory in this process's control groups and
/// in `group` (may be empty): "oom_kill" of memory.events (version 2) and of memory.oom_control
/// (version 1, Linux 4.13). It only grows; 0 where nothing counts.
std::uint64_t memory_kills(const std::filesystem::path& group,
                           const std::filesystem::path& root = "/");

}  // namespace sabath::probe

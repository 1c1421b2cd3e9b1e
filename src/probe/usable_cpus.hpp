#pragma once

#include "cpu_set.hpp"
#include "watch/cgroup.hpp"

#include <filesystem>
#include <optional>

namespace sabath::probe {

/// The hardware threads that this process may use: its affinity, those that are online, and every
/// cpuset above it; nothing when the kernel does not tell.
std::optional<CpuSet> usable_cpus(const std::filesystem::path& root, const CgroupLimits& limits);

}  // namespace sabath::probe

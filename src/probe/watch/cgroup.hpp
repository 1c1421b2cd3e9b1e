#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// What the control groups of this process, and all groups above them, allow.
struct CgroupLimits {
  std::optional<double> cpus{};  ///< the least CPU quota, in CPUs
  std::optional<std::uint64_t> memory_bytes{};
  std::vector<std::string> cpu_lists{};  ///< the effective cpuset of each hierarchy, as "0-3,8"
};

/// Reads both versions, and both at once: membership from /proc/self/cgroup, mount points from
/// /proc/self/mountinfo, the files as described in the kernel's Documentation/admin-guide/
/// cgroup-v2.rst and cgroup-v1. Whatever is not there limits nothing.
CgroupLimits read_cgroup_limits(const std::filesystem::path& root);

/// The folders of this process's group of version 2 and of the groups above it, nearest first, as
/// far as they are shown; none where there is no version 2.
std::vector<std::filesystem::path> unified_groups(const std::filesystem::path& root);

}  // namespace sabath::probe

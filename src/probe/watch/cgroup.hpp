#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// Limits of the control groups of this process and of all groups above them.
struct CgroupLimits {
  std::optional<double> cpus{};  ///< smallest CPU quota, in CPUs
  std::optional<std::uint64_t> memory_bytes{};
  std::vector<std::string> cpu_lists{};  ///< effective cpuset of each hierarchy: "0-3,8"
};

/// Reads both versions: membership from /proc/self/cgroup, mount points from /proc/self/mountinfo.
/// Files: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1. A missing file means
/// no limit.
CgroupLimits read_cgroup_limits(const std::filesystem::path& root);

/// Returns the visible folders of this process's group of version 2 and of the groups above it,
/// nearest first; empty without version 2.
std::vector<std::filesystem::path> unified_groups(const std::filesystem::path& root);

}  // namespace sabath::probe

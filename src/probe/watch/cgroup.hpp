#pragma once

#include "process_tree.hpp"

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

/// Resources that the processes of a control group use and have used.
struct GroupUse {
  ProcessUse use{};
  /// False: `use` has the storage traffic of running members only.
  bool counts_io = false;
  std::optional<std::uint64_t> memory_bytes{};  ///< with the page cache that it brought in
};

/// Reads cpu.stat, memory.*, io.stat and pids.* of `group`
/// (Documentation/admin-guide/cgroup-v2.rst). Sums missing values over its members in `proc`. A
/// group counts all processes that were ever in it or in groups within it. Nothing without such a
/// group.
std::optional<GroupUse> look_at_group(const std::filesystem::path& group,
                                      const std::filesystem::path& proc,
                                      const std::filesystem::path& sys);

}  // namespace sabath::probe

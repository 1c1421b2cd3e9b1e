#pragma once

#include "process_tree.hpp"

#include <filesystem>
#include <optional>

namespace sabath::probe {

/// What the processes of a control group use, and have used.
struct GroupUse {
  ProcessUse use{};
  /// Of living members alone, where the group does not count storage traffic itself.
  bool counts_io = false;
  std::optional<std::uint64_t> memory_bytes{};       ///< with the page cache that it brought in
  std::optional<std::uint64_t> memory_peak_bytes{};  ///< the same, at most (Linux 5.19)
};

/// Reads cpu.stat, memory.*, io.stat and pids.* of `group` (Documentation/admin-guide/
/// cgroup-v2.rst); what its controllers do not tell is summed up over its members in `proc`. A
/// group counts all that was ever in it or in groups within it. Nothing where there is no such
/// group.
std::optional<GroupUse> look_at_group(const std::filesystem::path& group,
                                      const std::filesystem::path& proc,
                                      const std::filesystem::path& sys);

}  // namespace sabath::probe

#pragma once

#include "process_tree.hpp"

#include <filesystem>
#include <optional>

namespace sabath::probe {

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

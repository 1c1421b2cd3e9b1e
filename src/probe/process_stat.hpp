#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace sabath::probe {

/// What is used here of /proc/PID/stat (proc(5)); times in clock ticks.
struct ProcessStat {
  char state = '?';
  int parent = 0;
  std::uint64_t cpu_ticks = 0;  ///< user and system, with children that it has waited for
  int threads = 0;
  std::uint64_t start_ticks = 0;  ///< since boot
  std::uint64_t resident_pages = 0;
};

/// Nothing when there is no such process (any more).
std::optional<ProcessStat> read_process_stat(const std::filesystem::path& proc, int pid);

}  // namespace sabath::probe

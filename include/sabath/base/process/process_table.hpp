#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// One line of the kernel's process table (proc(5), /proc/PID/stat); times in clock ticks.
struct ProcessStat {
  int pid = 0;
  char state = '?';
  int parent = 0;
  int group = 0;
  int session = 0;
  std::uint64_t cpu_ticks = 0;  ///< user and system, with children that it has waited for
  int threads = 0;
  std::uint64_t start_ticks = 0;  ///< between boot and its start
  std::uint64_t resident_pages = 0;
  std::uint64_t virtual_bytes = 0;  ///< all that is mapped
  std::uint64_t child_faults = 0;   ///< minor page faults of children that it has waited for

  /// Whether it has ended, and at most waits for its parent.
  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

/// Returns nothing if the process does not exist or /proc is missing. `proc` is /proc or a fake,
/// here and below.
std::optional<ProcessStat> process_stat(int pid, const std::filesystem::path& proc = "/proc");

/// The control group (Linux, version 2) of a process, as "/user.slice/x"; empty if unknown.
std::string control_group_of(int pid, const std::filesystem::path& proc = "/proc");

/// Whether the process was started with this variable ("NAME=VALUE"). False if it cannot be read.
bool began_with(int pid, std::string_view variable, const std::filesystem::path& proc = "/proc");

/// The names in a folder of `proc` that are numbers, ascending: processes, or the threads in
/// PID/task. A folder that vanishes is empty.
std::vector<int> numbered_entries(const std::filesystem::path& folder);

/// Children of all threads of a process, ended ones included. Read from /proc/PID/task/*/children
/// where the kernel has it, else by `children_by_scan`. A child that ends meanwhile may be missed.
std::vector<int> children_of(int pid, const std::filesystem::path& proc = "/proc");

/// The same from the parents of all processes: slow where there are many.
std::vector<int> children_by_scan(int pid, const std::filesystem::path& proc = "/proc");

}  // namespace sabath::base

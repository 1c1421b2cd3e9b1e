#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sabath::base {

/// One line of the kernel's process table (proc(5), /proc/PID/stat).
struct ProcessFacts {
  int pid = 0;
  int parent = 0;
  int group = 0;
  int session = 0;
  std::uint64_t start_ticks = 0;  ///< clock ticks between boot and its start
  bool ended = false;             ///< a zombie: it has ended and waits for its parent
};

/// Nothing when there is no such process (any more), or no /proc.
std::optional<ProcessFacts> process_facts(int pid);

/// Children of all threads of a process, ended ones included. Read from /proc/PID/task/*/children
/// where the kernel has it, else by `children_by_scan`. A child that ends meanwhile may be missed.
std::vector<int> children_of(int pid);

/// The same from the parents of all processes: slow where there are many.
std::vector<int> children_by_scan(int pid);

}  // namespace sabath::base

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>

namespace sabath::probe {

/// Resources that a set of processes uses and has used.
struct ProcessUse {
  double cpu_s = 0;
  std::uint64_t rss_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  int threads = 0;
  int processes = 0;
};

/// a - b, or 0 where that is less.
inline std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

/// Add the CPU time, memory, threads, or the I/O, of a running process and of the children that it
/// waited for. An ended process adds nothing.
void add_process(int pid, const std::filesystem::path& proc, ProcessUse& use);
void add_io(int pid, const std::filesystem::path& proc, ProcessUse& use);

/// Processes beneath one process, at any depth.
class ProcessTree {
 public:
  /// `proc` is /proc, or a fake.
  ProcessTree(std::filesystem::path proc, int root);

  /// Returns the sum over running descendants. CPU time and I/O include their ended children. Reads
  /// parents before children, so that a child that ends meanwhile is missed rather than counted
  /// twice.
  ProcessUse look() const;

  /// Returns the I/O of the root's ended children: the part of the process that belongs to none of
  /// its threads (linux, task_io_accounting). For this process only.
  ProcessUse dead_children_io() const;

 private:
  /// The processes of the machine, by their parents.
  std::multimap<int, int> every_child() const;

  std::filesystem::path proc_;
  int root_;
  /// /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN) avoids reading every process of the
  /// machine.
  bool has_children_files_;
};

}  // namespace sabath::probe

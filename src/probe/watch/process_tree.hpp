#pragma once

#include <cstdint>
#include <filesystem>

namespace sabath::probe {

/// What a set of processes uses, and has used.
struct ProcessUse {
  double cpu_s = 0;
  std::uint64_t rss_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  int threads = 0;
  int processes = 0;
};

/// Adds what a living process, and those of its children that it has waited for, use: CPU time,
/// memory, threads, itself; or what they read and wrote. One that is gone adds nothing.
void add_process(int pid, const std::filesystem::path& proc, ProcessUse& use);
void add_io(int pid, const std::filesystem::path& proc, ProcessUse& use);

/// The processes beneath one process, at any depth.
class ProcessTree {
 public:
  /// `proc` is /proc, or a fake.
  ProcessTree(std::filesystem::path proc, int root);

  /// The sum over the living descendants; CPU time and I/O include what their own dead children
  /// used. Parents are read before their children, so that a child that is waited for meanwhile is
  /// missed rather than counted twice.
  ProcessUse look() const;

  /// What the dead children of the root used for I/O: what belongs to the root's process but to
  /// none of its living threads (linux, task_io_accounting). Meant for the process itself.
  ProcessUse dead_children_io() const;

 private:
  void look_beneath(ProcessUse& use) const;
  void look_at_all(ProcessUse& use) const;

  std::filesystem::path proc_;
  int root_;
  /// /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN) needs no look at every process of the
  /// machine.
  bool has_children_files_;
};

}  // namespace sabath::probe

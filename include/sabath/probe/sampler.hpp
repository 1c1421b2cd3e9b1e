#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <memory>

namespace sabath::probe {

/// Samples CPU time, memory, I/O and threads of the processes beneath this process (not of this
/// process itself) while it lives, into JSON lines:
///
///     {"t_s":1.000,"cpu_s":1.93,"rss_bytes":73400320,"read_bytes":0,"write_bytes":8192,
///      "threads":2,"processes":1}
///
/// `t_s` counts from the start of sampling on `clock`. `cpu_s`, `read_bytes` and `write_bytes` are
/// cumulative since then and never decrease; they hold what living descendants and the children
/// that those waited for have used (/proc/PID/stat, /proc/PID/io), and what descendants that this
/// process waited for had used (RUSAGE_CHILDREN; the part of /proc/self/io that belongs to none of
/// its threads). `read_bytes` and `write_bytes` are storage traffic, not the page cache's.
/// `rss_bytes` sums resident sets, so shared pages count once a process.
///
/// Runs in a thread of its own; never throws once started: when a line cannot be written (full
/// disk) the sampling ends, and the summary counts the samples that were written.
class UsageSampler {
 public:
  /// `jsonl` is replaced. `interval` is at least 10 ms; shorter ones are taken as that. Throws
  /// Error{not_found|storage} when the file cannot be opened.
  UsageSampler(const std::filesystem::path& jsonl,
               std::chrono::milliseconds interval,
               base::Clock& clock);
  ~UsageSampler();
  UsageSampler(const UsageSampler&) = delete;
  UsageSampler& operator=(const UsageSampler&) = delete;
  /// Ends the sampling at once and sums up. A last sample is taken first, so that short runs have
  /// one. A second call returns the same.
  spec::UsageSummary finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe

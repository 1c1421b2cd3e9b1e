#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/probe/probe.hpp>
#include <sabath/spec/run_usage.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::probe {

struct SamplerOptions {
  /// At least 10 ms; shorter intervals are raised to it.
  std::chrono::milliseconds interval{1000};
  /// Share of one core that sampling may cost. After an expensive sample the next one comes later.
  double share = 0.01;
  ProbeSources sources{};
  /// Control group (version 2) to sample; empty: the processes beneath this one.
  std::filesystem::path group{};
  VisibleGpus gpus{};  ///< GPUs of the run
  int root = 0;        ///< without a group: process whose tree is sampled; 0: this one
};

/// Samples CPU time, memory, I/O and threads of the run's processes, GPUs and energy into JSON
/// lines (docs/formats/record.md). The processes are those of the control group, or those beneath
/// this process, without this process itself:
///
///     {"t_s":1.0,"cpu_s":1.93,"rss_bytes":73400320,"read_bytes":0,"write_bytes":8192,
///      "threads":2,"processes":1}
///
/// `t_s` counts from the start of sampling on `clock`. `cpu_s`, `read_bytes` and `write_bytes` are
/// cumulative and never decrease. For a tree they include running descendants with the children
/// that those waited for (/proc/PID/stat, /proc/PID/io). They also include ended descendants that
/// this process waited for (RUSAGE_CHILDREN; the part of /proc/self/io that belongs to none of its
/// threads). `read_bytes` and `write_bytes` are storage traffic, not the page cache's. `rss_bytes`
/// sums resident sets, so that shared pages count once a process; for a group that counts its
/// memory it is the mapped memory, once. A group in which nothing ever ran is replaced by the tree:
/// the kernel let no process into it.
///
/// Thread safety: runs in a thread of its own. Never throws once started: where a line cannot be
/// written (full disk) the sampling ends, and the summary counts the written samples.
class UsageSampler {
 public:
  /// Replaces `jsonl`. Throws Error{not_found|storage} where the file cannot be opened.
  UsageSampler(const std::filesystem::path& jsonl, SamplerOptions options, base::Clock& clock);
  ~UsageSampler();
  UsageSampler(const UsageSampler&) = delete;
  UsageSampler& operator=(const UsageSampler&) = delete;
  /// Takes a last sample, so that short runs have one, and ends the sampling. Returns the summary;
  /// a second call returns the same.
  spec::UsageSummary finish();

  struct Energy {
    std::vector<spec::EnergyReading> readings{};
    std::string text{};  ///< as in a record
  };
  /// Returns the energy from the start to finish(), which must come first.
  Energy energy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keeps the libraries of GPUs loaded while the result lives. Initialising one can take a second;
/// probes and samplers then find it done.
std::shared_ptr<const void> gpu_session(const ProbeSources& sources);

}  // namespace sabath::probe

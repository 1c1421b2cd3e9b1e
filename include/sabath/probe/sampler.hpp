#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// Which GPUs commands see.
struct VisibleGpus {
  /// As CUDA_VISIBLE_DEVICES names them: by UUID, also of a part, or by CUDA's numbers. Nothing:
  /// all.
  std::optional<std::vector<std::string>> names{};
  bool by_bus = false;  ///< CUDA counts by their places on the bus, as the driver does
};

struct SamplerOptions {
  /// At least 10 ms; shorter ones are taken as that.
  std::chrono::milliseconds interval{1000};
  /// Of one core, that sampling may cost: after a sample that took so much CPU time that the
  /// interval would be too short for it, the next one comes later.
  double share = 0.01;
  ProbeSources sources{};
  /// A control group (version 2) whose processes are looked at; empty: those beneath this process.
  std::filesystem::path group{};
  VisibleGpus gpus{};  ///< that are the run's
  int root = 0;        ///< beneath this process instead, where there is no group; 0: this one
};

/// Samples CPU time, memory, I/O and threads of the run's processes (of the control group, or
/// beneath this process; never this process itself), what GPUs do, and energy, while it lives, into
/// JSON lines that docs/formats/record.md describes:
///
///     {"t_s":1.0,"cpu_s":1.93,"rss_bytes":73400320,"read_bytes":0,"write_bytes":8192,
///      "threads":2,"processes":1}
///
/// `t_s` counts from the start of sampling on `clock`. `cpu_s`, `read_bytes` and `write_bytes` are
/// cumulative since then and never decrease; for a tree they hold what living descendants and the
/// children that those waited for have used (/proc/PID/stat, /proc/PID/io), and what descendants
/// that this process waited for had used (RUSAGE_CHILDREN; the part of /proc/self/io that belongs
/// to none of its threads). `read_bytes` and `write_bytes` are storage traffic, not the page
/// cache's. `rss_bytes` sums resident sets, so shared pages count once a process; of a group that
/// counts its memory it is what its processes have mapped, once. A group in which nothing ever ran
/// is taken for one that the kernel let nobody into: then the tree is looked at.
///
/// Runs in a thread of its own; never throws once started: when a line cannot be written (full
/// disk) the sampling ends, and the summary counts the samples that were written.
class UsageSampler {
 public:
  /// `jsonl` is replaced. Throws Error{not_found|storage} when the file cannot be opened.
  UsageSampler(const std::filesystem::path& jsonl, SamplerOptions options, base::Clock& clock);
  ~UsageSampler();
  UsageSampler(const UsageSampler&) = delete;
  UsageSampler& operator=(const UsageSampler&) = delete;
  /// Ends the sampling at once and sums up. A last sample is taken first, so that short runs have
  /// one. A second call returns the same.
  spec::UsageSummary finish();

  struct Energy {
    std::vector<spec::EnergyReading> readings{};
    std::string text{};  ///< as in a record
  };
  /// From the start to finish(), which came before.
  Energy energy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keeps the libraries of GPUs loaded while it lives. To initialise one can take a second; with
/// this, probes and samplers find it done.
class GpuSession {
 public:
  explicit GpuSession(const ProbeSources& sources);
  ~GpuSession();
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe

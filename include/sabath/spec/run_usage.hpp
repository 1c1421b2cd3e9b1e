#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {

/// A GPU while the run went on. Absent: its driver does not tell.
struct GpuUsage {
  std::string uuid{};
  std::optional<double> mean_utilisation{};  ///< 0 to 1: share of time in which a kernel ran
  std::optional<std::uint64_t> max_memory_bytes{};
  std::optional<double> mean_power_w{};
  std::optional<double> max_temperature_c{};
  std::optional<int> min_clock_mhz{};
  std::optional<int> max_clock_mhz{};
  std::map<std::string, std::uint64_t> throttled{};  ///< reason -> samples that showed it

  bool operator==(const GpuUsage&) const = default;
};

/// Resource use over time, summed up; the samples are in samples-<node>.jsonl.
struct UsageSummary {
  std::uint64_t samples = 0;
  double interval_s = 0;
  double mean_cpus = 0;                ///< mean number of busy CPUs of the run's processes
  std::uint64_t max_rss_bytes = 0;     ///< peak over samples of the sum over processes
  double sampler_cpu_s = 0;            ///< what sampling itself cost
  std::optional<std::string> scope{};  ///< "cgroup" or "process tree": whose use it is
  std::optional<std::uint64_t> read_bytes{};
  std::optional<std::uint64_t> write_bytes{};
  std::optional<std::uint64_t> max_threads{};
  std::optional<std::uint64_t> max_processes{};
  std::optional<std::vector<GpuUsage>> gpus{};

  bool operator==(const UsageSummary&) const = default;
};

/// What one counter says the run took. Counters of one record may hold one another (a package its
/// cores): `scope` says what each counts, and they are not to be summed blindly.
struct EnergyReading {
  std::string node{};
  std::string device{};  ///< "GPU-<uuid>", "package-0", "package-0/dram", "psys", "job"
  double joules = 0;
  std::string method{};  ///< "nvml energy counter", "nvml power over time", "rapl", "slurm"
  std::string scope{};   ///< whose energy it is, in words

  bool operator==(const EnergyReading&) const = default;
};

}  // namespace sabath::spec

#pragma once

#include "gpu_library.hpp"

#include <sabath/probe/probe.hpp>
#include <sabath/spec/run_usage.hpp>

#include <vector>

namespace sabath::probe {

/// A device of a library. Ownership: the libraries outlive it.
struct WatchedGpu {
  const GpuLibrary* library = nullptr;
  std::size_t device = 0;
  std::string uuid{};
};

/// Returns the visible devices. Numbers of CUDA are used where CUDA numbers devices as the driver
/// does: by bus, or with one model only, and without MIG. Otherwise returns all devices.
std::vector<WatchedGpu> choose_gpus(const GpuLibraries& libraries, const VisibleGpus& visible);

/// Sums up the states of GPUs.
class GpuWatch {
 public:
  explicit GpuWatch(std::vector<WatchedGpu> gpus);

  struct Look {
    const std::string* uuid = nullptr;
    GpuState state{};
  };
  std::vector<Look> look();
  /// Returns the sums; nothing without GPUs.
  std::optional<std::vector<spec::GpuUsage>> summary() const;

 private:
  struct Mean {
    double sum = 0;
    std::uint64_t count = 0;

    void add(const std::optional<double>& value);
    std::optional<double> value() const;
  };
  struct Account {
    WatchedGpu gpu{};
    Mean utilisation{};
    Mean power_w{};
    spec::GpuUsage usage{};
  };
  static void add(const GpuState& state, Account& account);

  std::vector<Account> accounts_;
};

}  // namespace sabath::probe

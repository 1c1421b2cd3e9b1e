#pragma once

#include "gpu_library.hpp"

#include <sabath/probe/sampler.hpp>
#include <sabath/spec/run_usage.hpp>

#include <utility>
#include <vector>

namespace sabath::probe {

/// A device of one of the libraries; they outlive it.
struct WatchedGpu {
  const GpuLibrary* library = nullptr;
  std::size_t device = 0;
  std::string uuid{};
};

/// Those that are visible. By numbers they can be told where CUDA counts as the driver does, or all
/// are of one model (its own order is the fastest first, and then that of the bus), and none is
/// divided; elsewhere all of them are.
std::vector<WatchedGpu> choose_gpus(const GpuLibraries& libraries, const VisibleGpus& visible);

/// Sums up what GPUs do, look by look.
class GpuWatch {
 public:
  explicit GpuWatch(std::vector<WatchedGpu> gpus);

  struct Look {
    const std::string* uuid = nullptr;
    GpuState state{};
  };
  std::vector<Look> look();
  /// Nothing where there are no GPUs.
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

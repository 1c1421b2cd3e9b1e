#pragma once

#include "gpu_library.hpp"

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

/// Those that `wanted` names, by UUID or by that of a part; all of them where it is empty or does
/// not name UUIDs alone (the order of CUDA's numbers is CUDA's own).
std::vector<WatchedGpu> choose_gpus(const GpuLibraries& libraries,
                                    const std::vector<std::string>& wanted);

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

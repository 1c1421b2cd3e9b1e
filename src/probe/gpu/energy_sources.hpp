#pragma once

#include "gpu_watch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// Something that tells energy, or power.
struct EnergySource {
  std::string device{};
  std::string method{};
  std::string scope{};
  bool is_power = false;  ///< `read` gives watts; else joules since some moment
  double range_j = 0;     ///< where the counter begins anew; 0: never
  std::function<std::optional<double>()> read{};
};

struct EnergySources {
  std::vector<EnergySource> found{};
  std::vector<std::string> missing{};  ///< a line for each method that is not there, with why
};

/// The only list of methods. `gpus` and their libraries outlive the answer.
EnergySources find_energy_sources(const std::filesystem::path& root,
                                  const GpuLibraries& libraries,
                                  const std::vector<WatchedGpu>& gpus);

}  // namespace sabath::probe

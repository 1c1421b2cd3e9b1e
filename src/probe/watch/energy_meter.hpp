#pragma once

#include "gpu/gpu_watch.hpp"

#include <sabath/spec/run_usage.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// A source of energy or power readings.
struct EnergySource {
  std::string device{};
  std::string method{};
  std::string scope{};
  bool is_power = false;  ///< `read` returns watts; else joules since some moment
  double range_j = 0;     ///< where the counter wraps; 0: never
  std::function<std::optional<double>()> read{};
};

struct EnergySources {
  std::vector<EnergySource> found{};
  std::vector<std::string> missing{};  ///< one line for each missing method, with the reason
};

/// Returns the sources of all methods. Ownership: `gpus` and their libraries outlive the result.
EnergySources find_energy_sources(const std::filesystem::path& root,
                                  const GpuLibraries& libraries,
                                  const std::vector<WatchedGpu>& gpus);

/// Adds up the energy of all sources. Must look more often than a counter wraps (RAPL's after some
/// minutes at full power).
class EnergyMeter {
 public:
  explicit EnergyMeter(EnergySources sources);

  /// Reads all sources. `t_s` never decreases. Counters that wrap continue by their range; a
  /// counter that was reset (its driver was reloaded) continues from there. Interpolates power
  /// linearly between two looks.
  void look(double t_s);
  /// Returns the energy since the first look, for each source that was read at least twice.
  std::vector<spec::EnergyReading> readings(const std::string& node) const;
  const std::vector<std::string>& missing() const noexcept { return missing_; }

 private:
  struct Account {
    EnergySource source{};
    std::optional<double> last{};
    double last_t_s = 0;
    double joules = 0;
    std::uint64_t steps = 0;
  };

  std::vector<Account> accounts_;
  std::vector<std::string> missing_;
};

}  // namespace sabath::probe

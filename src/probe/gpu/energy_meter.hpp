#pragma once

#include "energy_sources.hpp"

#include <sabath/spec/run_usage.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// Adds up what the sources tell from its first look to its last. Must look more often than a
/// counter begins anew (RAPL's after some minutes at full power).
class EnergyMeter {
 public:
  explicit EnergyMeter(EnergySources sources);

  /// `t_s` never decreases. Counters that begin anew are continued at their range; one that went
  /// back otherwise (its driver was loaded again) goes on from there. Power is taken as changing
  /// evenly between two looks.
  void look(double t_s);
  /// Since the first look, of each source that could be read at least twice.
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

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace sabath::spec {

/// When a run is stopped because of one of its metrics. Each part that is set is a condition of its
/// own, and one is enough.
struct StopCondition {
  bool nan = false;
  std::optional<double> above{};
  std::optional<double> below{};
  std::optional<std::uint64_t> steps{};            ///< without a better value
  std::optional<std::chrono::nanoseconds> time{};  ///< without a better value

  bool operator==(const StopCondition&) const = default;
  bool wants_better() const { return steps || time; }
};

}  // namespace sabath::spec

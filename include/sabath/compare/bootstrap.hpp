#pragma once

#include <sabath/compare/sample.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sabath::compare {

/// Parameters of resampling. The same numbers give the same interval on every machine.
struct Resampling {
  std::uint64_t seed = 0;
  std::uint32_t resamples = 9999;
  double alpha = 0.05;

  bool operator==(const Resampling&) const = default;
};

struct BootstrapInterval {
  double estimate = 0;
  Interval interval{};
  double bias = 0;          ///< z0
  double acceleration = 0;  ///< a
  Resampling how{};         ///< for the record

  bool operator==(const BootstrapInterval&) const = default;
};

/// A number made of groups, such as the difference of their means.
using GroupStatistic = std::function<double(const std::vector<std::span<const double>>&)>;

/// Bias-corrected and accelerated interval (B. Efron, J. Am. Stat. Assoc. 82, 1987). Each group is
/// resampled by itself; the acceleration comes from leaving out one value at a time. Returns
/// nothing for a group of fewer than 20 values, where the interval covers far less than nominal, or
/// where the statistic is not finite. A statistic that resampling does not change gives an interval
/// of no width.
std::optional<BootstrapInterval> bca_interval(const std::vector<std::vector<double>>& groups,
                                              const GroupStatistic& statistic,
                                              const Resampling& how);

}  // namespace sabath::compare

#pragma once

#include <sabath/compare/sample.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sabath::compare {

/// How an interval is resampled; the same numbers give the same interval on every machine.
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

/// Bias-corrected and accelerated (B. Efron, J. Am. Stat. Assoc. 82, 1987), each group resampled by
/// itself; the acceleration is from leaving out one value at a time. Nothing for a group of fewer
/// than 20 values (there the interval covers far less than it says), and where the statistic is not
/// finite. A statistic that no resampling changes gives an interval of no width.
std::optional<BootstrapInterval> bca_interval(const std::vector<std::vector<double>>& groups,
                                              const GroupStatistic& statistic,
                                              const Resampling& how);

}  // namespace sabath::compare

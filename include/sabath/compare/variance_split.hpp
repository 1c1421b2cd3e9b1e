#pragma once

#include <sabath/spec/group_comparison.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sabath::compare {

/// Level of each value: numbers below `count`.
struct Factor {
  std::string name{};
  std::uint32_t count = 0;
  std::vector<std::uint32_t> levels{};
};

/// Splits the sum of squares of finite values between and within groups, and by factors in an
/// additive linear model. A group is a combination of levels that occurs. Groups may have any
/// sizes, and combinations may be missing.
///
/// ICC = (MSB - MSW) / (MSB + (n0 - 1) MSW), n0 = (N - sum n_i^2 / N) / (k - 1), which is the mean
/// size of a group for unbalanced ones (R. A. Fisher, 1925; n0 as in A. Donner, Int. Stat. Rev. 54,
/// 1986). omega^2 = (SS - df MSE) / (SST + MSE) (W. L. Hays, 1963).
///
/// The model eliminates its largest factor first. So time grows with the number of values and with
/// the cube of the number of levels of all others. Above a thousand of those, factors are left out
/// and `not_split` says so. Equal values within each group give within = 0 exactly. A sum of
/// squares that a double cannot hold is infinite or zero; ratios follow from that.
spec::VarianceSplit split_variance(std::span<const double> values,
                                   const std::vector<Factor>& factors);

}  // namespace sabath::compare

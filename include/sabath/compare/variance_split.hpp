#pragma once

#include <sabath/spec/group_comparison.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sabath::compare {

/// Which level each value has: numbers below `count`.
struct Factor {
  std::string name{};
  std::uint32_t count = 0;
  std::vector<std::uint32_t> levels{};
};

/// Splits the sum of squares of finite values between and within groups, where a group is a
/// combination of levels that occurs, and by factors in an additive linear model, for groups of any
/// sizes and with combinations that do not occur.
///
/// ICC = (MSB - MSW) / (MSB + (n0 - 1) MSW), n0 = (N - sum n_i^2 / N) / (k - 1), which is the mean
/// size of a group for unbalanced ones (R. A. Fisher, 1925; n0 as in A. Donner, Int. Stat. Rev. 54,
/// 1986). omega^2 = (SS - df MSE) / (SST + MSE) (W. L. Hays, 1963).
///
/// The model's largest factor is eliminated first, so that time grows with the number of values and
/// with the cube of the number of levels of all others; where those are more than a thousand,
/// `not_split` says so and there are no factors. Equal values within each group give within = 0
/// exactly. A sum of squares that a double cannot hold is infinite, or zero; what is a ratio of
/// them is as for any other values.
spec::VarianceSplit split_variance(std::span<const double> values,
                                   const std::vector<Factor>& factors);

}  // namespace sabath::compare

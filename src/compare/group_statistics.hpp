#pragma once

#include <sabath/spec/group_comparison.hpp>

#include <optional>
#include <span>

namespace sabath::compare {

/// What all tests say of two groups of finite values. The bootstrap is always resampled in the same
/// way. Without a margin TOST is for two pooled standard deviations.
spec::GroupStatistics group_statistics(std::span<const double> a,
                                       std::span<const double> b,
                                       std::optional<double> margin,
                                       double alpha);

}  // namespace sabath::compare

#pragma once

#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <functional>

namespace sabath::analysis {

/// What a series goes along: the first of these that all of its points say.
enum class Along { step, epoch, point };
const char* name_of(Along along);
Along along_of(const spec::Series& series);
double place_of(const spec::Series& series, Along along, std::size_t i);

/// Calls `take` with the place of each point that two series have in common (by rank, step and
/// epoch) and how far they are apart there: abs(a-b) / max(abs a, abs b); infinitely where only one
/// of them is a number. Not where they are equal; NaN equals NaN.
void for_each_difference(const spec::Series& a,
                         const spec::Series& b,
                         Along along,
                         const std::function<void(double place, double apart)>& take);

}  // namespace sabath::analysis

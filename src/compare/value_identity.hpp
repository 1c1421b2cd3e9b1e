#pragma once

#include <sabath/compare/compare_groups.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sabath::compare {

/// What makes two doubles the same: their bits, but all NaN are one.
std::uint64_t bits_of(double value);

/// The same with the digits that a double has no room for.
using Identity = std::pair<std::uint64_t, std::string>;
Identity identity_of(const RunValues& metric, std::size_t run);

/// Are its values different whole numbers that one double is nearest to? No test tells these apart.
bool differ_in_digits_alone(const RunValues& metric);

/// Of such values the least and the largest.
std::pair<std::string, std::string> digits_apart(const RunValues& metric);

}  // namespace sabath::compare

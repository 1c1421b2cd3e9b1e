#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sabath::report {

/// A number for people, with as many digits as tell values apart: "0.0123457", "1.2e-09". Whole
/// numbers below 10^21 have all their digits.
std::string number_text(double value);

/// "1.5 [1.4, 1.6]"; without both ends "1.5".
std::string interval_text(double value, std::optional<double> low, std::optional<double> high);

/// A distance in ULP; "-" where it has none, since a value is not finite.
std::string ulps_text(std::uint64_t ulps, double relative);

}  // namespace sabath::report

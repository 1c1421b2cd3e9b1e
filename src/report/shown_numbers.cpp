#include <sabath/base/text/exact_number.hpp>
#include <sabath/report/shown_numbers.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace sabath::report {

std::string number_text(double value) {
  const bool is_whole = std::abs(value) < base::first_shortened_whole && std::trunc(value) == value;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string interval_text(double value, std::optional<double> low, std::optional<double> high) {
  if (!low || !high) return number_text(value);
  return fmt::format("{} [{}, {}]", number_text(value), number_text(*low), number_text(*high));
}

std::string ulps_text(std::uint64_t ulps, double relative) {
  const bool has_distance =
      std::isfinite(relative) || ulps != std::numeric_limits<std::uint64_t>::max();
  return has_distance ? std::to_string(ulps) : "-";
}

}  // namespace sabath::report

#include "arrays/value_identity.hpp"

#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/compare/mean_tests.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::compare {
namespace {

constexpr std::size_t fewest_for_bounds = 5;
constexpr double sd_of_mad = 1.4826;            ///< of normal values
constexpr double sd_of_mean_distance = 1.2533;  ///< sqrt(pi / 2)
constexpr double outlying = 3.5;

std::vector<double> distances(const std::vector<double>& values, double middle) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values)
    result.push_back(std::abs(value - middle));
  return result;
}

/// A standard deviation that a few outliers hardly change.
double robust_sd(const std::vector<double>& finite, double middle) {
  const std::vector<double> from_middle = distances(finite, middle);
  const double mad = median(from_middle);
  return mad > 0 ? sd_of_mad * mad : sd_of_mean_distance * moments(from_middle).mean;
}

/// Twice the factor of a prediction interval at 0.01.
double width_in_sd(std::size_t n) {
  const auto count = static_cast<double>(n);
  return 2 * t_exceeded(0.005, count - 1) * std::sqrt(1 + 1 / count);
}

std::optional<spec::Bounds> bounds_of(const std::vector<double>& finite) {
  if (finite.size() < fewest_for_bounds) return std::nullopt;
  const double middle = median(finite);
  const double k = width_in_sd(finite.size());
  const double half = k * robust_sd(finite, middle);
  const bool has_mad = median(distances(finite, middle)) > 0;
  const std::string rule = fmt::format(
      "median +- {:.4g} * {}", k, has_mad ? "1.4826 * MAD" : "1.2533 * mean distance from it");
  return spec::Bounds{middle - half, middle + half, rule};
}

std::vector<double> finite_samples(const std::vector<double>& values, const Seeds& seeds) {
  if (seeds.empty()) return finite_of(values);
  Seeds own;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) own.push_back(seeds[i]);
  }
  return by_seed(finite_of(values), own);
}

/// Equality up to the rounding of sums by other compilers.
bool is_near(double a, double b, double scale) {
  constexpr double slack = 1e-9;
  return a == b || std::abs(a - b) <= slack * std::max({std::abs(a), std::abs(b), scale});
}

}  // namespace

void summarise(spec::BaselineMetric& metric, const Seeds& seeds) {
  const std::vector<double> finite = finite_of(metric.values);
  const Moments found = base::exact_moments(exact_values(values_of(metric)));
  metric.n = found.n;
  metric.mean = found.mean;
  metric.sd = found.sd;
  metric.min = found.min;
  metric.max = found.max;
  metric.median = finite.empty() ? 0 : median(finite);
  metric.mad = finite.empty() ? 0 : median(distances(finite, metric.median));
  metric.bounds =
      metric.performance ? std::nullopt : bounds_of(finite_samples(metric.values, seeds));
}

std::string inconsistency(const spec::BaselineMetric& metric, const Seeds& seeds) {
  spec::BaselineMetric again = metric;
  summarise(again, seeds);
  // Earlier versions took each run of a seed for a sample.
  if (metric.bounds && (!again.bounds || again.bounds->rule != metric.bounds->rule))
    summarise(again);
  const double scale = std::max(std::abs(again.min), std::abs(again.max));
  const auto differs = [&](const char* name, double given, double wanted) {
    return is_near(given, wanted, scale)
               ? std::string()
               : fmt::format("'{}' is {}, of the values it is {}", name, given, wanted);
  };
  std::string text;
  const auto check = [&](const char* name, double given, double wanted) {
    if (text.empty()) text = differs(name, given, wanted);
  };
  check("n", static_cast<double>(metric.n), static_cast<double>(again.n));
  check("mean", metric.mean, again.mean);
  check("sd", metric.sd, again.sd);
  check("median", metric.median, again.median);
  check("mad", metric.mad, again.mad);
  check("min", metric.min, again.min);
  check("max", metric.max, again.max);
  if (!text.empty() || !metric.bounds || metric.bounds->rule == spec::reviewed) return text;
  if (!again.bounds) return "'bounds' have a rule that so few values do not give";
  check("bounds/low", metric.bounds->low, again.bounds->low);
  check("bounds/high", metric.bounds->high, again.bounds->high);
  return text;
}

std::vector<std::size_t> outliers(const std::vector<double>& values) {
  std::vector<std::size_t> found;
  const std::vector<double> finite = finite_of(values);
  if (values.size() < fewest_for_bounds) return found;
  const double middle = finite.empty() ? 0 : median(finite);
  const double limit = finite.empty() ? 0 : outlying * robust_sd(finite, middle);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || std::abs(values[i] - middle) > limit) found.push_back(i);
  }
  return found;
}

}  // namespace sabath::compare

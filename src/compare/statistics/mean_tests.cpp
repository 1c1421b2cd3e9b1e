#include <sabath/compare/mean_tests.hpp>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sabath::compare {
namespace {

double square(double value) {
  return value * value;
}

Interval around(double middle, double half_width) {
  return {middle - half_width, middle + half_width};
}

}  // namespace

double t_tail(double t, double freedom) {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), t));
}

double t_exceeded(double tail, double freedom) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), tail));
}

std::optional<Welch> welch_test(const Moments& a, const Moments& b) {
  if (a.n < 2 || b.n < 2) return std::nullopt;
  const double unit = unit_of(std::max(a.sd, b.sd));  // so that no square is none, or infinite
  const double of_a = square(a.sd / unit) / static_cast<double>(a.n);
  const double of_b = square(b.sd / unit) / static_cast<double>(b.n);
  const double total = of_a + of_b;
  const double difference = a.mean - b.mean;
  if (!(total > 0) || !std::isfinite(total) || !std::isfinite(difference)) return std::nullopt;
  const double share_a = of_a / total;
  const double share_b = of_b / total;
  Welch welch;
  welch.difference = difference;
  welch.standard_error =
      std::max(std::sqrt(total) * unit, std::numeric_limits<double>::denorm_min());
  welch.t = difference / welch.standard_error;
  welch.freedom = 1 / (share_a * share_a / static_cast<double>(a.n - 1) +
                       share_b * share_b / static_cast<double>(b.n - 1));
  welch.p = 2 * t_tail(std::abs(welch.t), welch.freedom);
  return welch;
}

std::optional<Welch> paired_test(const Moments& differences) {
  if (differences.n < 2 || !(differences.sd > 0)) return std::nullopt;
  if (!std::isfinite(differences.sd) || !std::isfinite(differences.mean)) return std::nullopt;
  const auto n = static_cast<double>(differences.n);
  Welch test;
  test.difference = differences.mean;
  test.standard_error =
      std::max(differences.sd / std::sqrt(n), std::numeric_limits<double>::denorm_min());
  test.t = test.difference / test.standard_error;
  test.freedom = n - 1;
  test.p = 2 * t_tail(std::abs(test.t), test.freedom);
  return test;
}

Interval difference_interval(const Welch& test, double alpha) {
  return around(test.difference, t_exceeded(alpha / 2, test.freedom) * test.standard_error);
}

std::optional<Interval> mean_interval(const Moments& values, double alpha) {
  if (values.n < 2 || !std::isfinite(values.mean) || !std::isfinite(values.sd)) return std::nullopt;
  const auto n = static_cast<double>(values.n);
  return around(values.mean, t_exceeded(alpha / 2, n - 1) * values.sd / std::sqrt(n));
}

std::optional<Equivalence> equivalence_test(const Moments& a,
                                            const Moments& b,
                                            double margin,
                                            double alpha) {
  const auto welch = welch_test(a, b);
  if (!welch || !(margin >= 0)) return std::nullopt;
  return equivalence_test(*welch, margin, alpha);
}

Equivalence equivalence_test(const Welch& test, double margin, double alpha) {
  Equivalence result;
  result.margin = margin;
  const double lower = t_tail((test.difference + margin) / test.standard_error, test.freedom);
  const double upper = t_tail((margin - test.difference) / test.standard_error, test.freedom);
  result.p = std::max(lower, upper);
  result.interval = difference_interval(test, 2 * alpha);
  result.holds = result.p < alpha;
  return result;
}

std::optional<double> hedges_g(const Moments& a, const Moments& b) {
  if (a.n < 1 || b.n < 1 || a.n + b.n < 4) return std::nullopt;
  const auto freedom = static_cast<double>(a.n + b.n - 2);
  const double pooled = std::hypot(std::sqrt(static_cast<double>(a.n - 1) / freedom) * a.sd,
                                   std::sqrt(static_cast<double>(b.n - 1) / freedom) * b.sd);
  const double difference = a.mean - b.mean;
  if (!(pooled > 0) || !std::isfinite(pooled) || !std::isfinite(difference)) return std::nullopt;
  // Gamma(f/2 - 1/2) / Gamma(f/2), without the overflow of either.
  const double ratio = boost::math::tgamma_delta_ratio(freedom / 2 - 0.5, 0.5);
  return difference / pooled / (std::sqrt(freedom / 2) * ratio);
}

std::optional<Interval> prediction_interval(const Moments& reference, double alpha) {
  if (reference.n < 2 || !std::isfinite(reference.mean)) return std::nullopt;
  const auto n = static_cast<double>(reference.n);
  return around(reference.mean, t_exceeded(alpha / 2, n - 1) * reference.sd * std::sqrt(1 + 1 / n));
}

double mean_sd(const Moments& a, const Moments& b) {
  return std::hypot(a.sd * std::sqrt(0.5), b.sd * std::sqrt(0.5));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isnan(p[i]); });
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  double highest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    highest = std::max(highest, std::min(1.0, static_cast<double>(p.size() - k) * p[order[k]]));
    adjusted[order[k]] = highest;
  }
  return adjusted;
}

}  // namespace sabath::compare

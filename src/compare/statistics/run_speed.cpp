#include "run_speed.hpp"

#include <sabath/compare/mean_tests.hpp>

#include <boost/math/constants/constants.hpp>
#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace sabath::compare {
namespace {

constexpr std::size_t slow_waves = 2;     ///< coefficients that show a drift
constexpr std::size_t fewest_waves = 16;  ///< that it is held against, with them
constexpr std::size_t most_waves = 100;   ///< of more the quantile hardly changes
constexpr double drift_factor = 1.2;      ///< the two waves hold 4/5 of a straight line's departure

/// The p from which a drift counts in part, and in full.
struct DriftLevels {
  double from = 0;
  double in_full = 0;
};
constexpr DriftLevels shown{0.04, 0.01};
constexpr DriftLevels possible{0.4, 0.1};

struct Location {
  double mean = 0;
  double variance = 0;  ///< of the mean
  double freedom = 1;
  double departure = 0;       ///< of the two slowest waves from the mean, at most
  double shown_drift = 0;     ///< to both sides of the mean
  double possible_drift = 0;  ///< not less than `shown_drift`
};

double middle_mean(std::span<double> values) {
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 4;
  const auto middle = values.subspan(cut, values.size() - 2 * cut);
  return std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
}

/// Leaves out steps at the beginning that do not fill a stretch.
std::vector<double> stretches_of(std::span<const double> values, std::size_t length) {
  std::vector<double> stretches;
  std::vector<double> stretch;
  for (std::size_t at = values.size() % length; at < values.size(); at += length) {
    const auto steps = values.subspan(at, length);
    stretch.assign(steps.begin(), steps.end());
    stretches.push_back(middle_mean(stretch));
  }
  return stretches;
}

double wave(std::size_t number, double at) {
  return boost::math::constants::root_two<double>() *
         std::cos(boost::math::constants::pi<double>() * static_cast<double>(number) * at);
}

/// Orthonormal (type 2 of the discrete cosine transform), without the constant one. For white noise
/// each has the variance of a stretch.
std::vector<double> cosine_coefficients(const std::vector<double>& stretches,
                                        double mean,
                                        std::size_t count) {
  const auto n = static_cast<double>(stretches.size());
  std::vector<double> coefficients;
  for (std::size_t number = 1; number <= count; ++number) {
    double sum = 0;
    for (std::size_t i = 0; i < stretches.size(); ++i)
      sum += (stretches[i] - mean) * wave(number, (static_cast<double>(i) + 0.5) / n);
    coefficients.push_back(sum / std::sqrt(n));
  }
  return coefficients;
}

double sum_of_squares(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// Probability that noise without a drift has that power in its first coefficients.
double chance_without_drift(const std::vector<double>& coefficients) {
  const std::span<const double> all(coefficients);
  double chance = 1;
  for (std::size_t first = 1; first <= slow_waves; ++first) {
    const auto rest = static_cast<double>(all.size() - first);
    const double low = sum_of_squares(all.first(first)) / static_cast<double>(first);
    const double high = sum_of_squares(all.subspan(first)) / rest;
    if (!(low > 0)) continue;
    if (!(high > 0)) return 0;
    const boost::math::fisher_f distribution(static_cast<double>(first), rest);
    chance = std::min(chance, boost::math::cdf(boost::math::complement(distribution, low / high)));
  }
  return chance;
}

/// Largest departure of the first waves from the mean.
double largest_departure(const std::vector<double>& coefficients) {
  constexpr int places = 50;
  double largest = 0;
  for (int place = 0; place <= places; ++place) {
    double departure = 0;
    for (std::size_t i = 0; i < slow_waves; ++i)
      departure += coefficients[i] * wave(i + 1, static_cast<double>(place) / places);
    largest = std::max(largest, std::abs(departure));
  }
  return largest;
}

/// The share of a departure that counts as a drift.
double drift_share(double chance, const DriftLevels& levels) {
  if (chance >= levels.from) return 0;
  return std::min((levels.from - chance) / (levels.from - levels.in_full), 1.0);
}

Location location_of(std::span<const double> values, std::size_t length) {
  const std::vector<double> stretches = stretches_of(values, length);
  const auto n = static_cast<double>(stretches.size());
  const auto wanted = std::lround(0.15 * std::pow(static_cast<double>(values.size()), 2.0 / 3));
  const std::size_t used = std::min(static_cast<std::size_t>(wanted), most_waves);
  Location location;
  location.mean = std::accumulate(stretches.begin(), stretches.end(), 0.0) / n;
  const std::vector<double> coefficients =
      cosine_coefficients(stretches, location.mean, std::max(used, fewest_waves));
  location.freedom = static_cast<double>(used);
  location.variance = sum_of_squares(std::span(coefficients).first(used)) / location.freedom / n;
  location.departure = largest_departure(coefficients) / std::sqrt(n);
  const double chance = chance_without_drift(coefficients);
  const double full = drift_factor * location.departure;
  location.shown_drift = drift_share(chance, shown) * full;
  location.possible_drift = drift_share(chance, possible) * full;
  return location;
}

double half_width(const Location& a, const Location& b, double alpha) {
  const double variance = a.variance + b.variance;
  if (!(variance > 0)) return 0;
  const double share = a.variance / variance;
  const double freedom = 1 / (share * share / a.freedom + (1 - share) * (1 - share) / b.freedom);
  return t_exceeded(alpha, freedom) * std::sqrt(variance);
}

}  // namespace

std::optional<RunDifference> difference_of_runs(std::span<const double> a,
                                                std::span<const double> b,
                                                double alpha) {
  const std::size_t fewest = std::min(a.size(), b.size());

  if (fewest < fewest_steps || !all_finite(a) || !all_finite(b)) return std::nullopt;
  const auto length =
      static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(fewest)) / 3));
  const Location of_a = location_of(a, length);
  const Location of_b = location_of(b, length);
  const double shown_drift = of_a.shown_drift + of_b.shown_drift;
  const double width = half_width(of_a, of_b, alpha) + shown_drift;
  const double difference = of_b.mean - of_a.mean;
  RunDifference result;
  result.interval = {difference - width, difference + width};
  result.unseen_drift = of_a.possible_drift + of_b.possible_drift - shown_drift;
  result.drifts = shown_drift > 0;
  result.unsteady = std::max(of_a.departure, of_b.departure) > steady_speed;
  return result;
}

}  // namespace sabath::compare

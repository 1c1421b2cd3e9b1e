#include <sabath/compare/bootstrap.hpp>

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace sabath::compare {
namespace {

using Groups = std::vector<std::vector<double>>;

constexpr std::size_t fewest = 20;

double value_of(const GroupStatistic& statistic, const Groups& groups) {
  return statistic({groups.begin(), groups.end()});
}

/// A whole number below `bound`, each as likely. std::uniform_int_distribution gives others on
/// other machines.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t uneven = (0 - bound) % bound;  // of 2^64 this many would be too often
  std::uint64_t number = random();
  while (number < uneven)
    number = random();
  return number % bound;
}

std::vector<double> resampled_values(const Groups& groups,
                                     const GroupStatistic& statistic,
                                     const Resampling& how) {
  std::mt19937_64 random(how.seed);
  Groups drawn = groups;
  std::vector<double> values;
  values.reserve(how.resamples);
  for (std::uint32_t i = 0; i < how.resamples; ++i) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (double& value : drawn[g])
        value = groups[g][below(random, groups[g].size())];
    }
    values.push_back(value_of(statistic, drawn));
  }
  return values;
}

/// sum U^3 / n^3 over (sum U^2 / n^2)^1.5 / 6, where U = (n - 1) * (mean of those left - each);
/// over all groups (B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, 14.15).
double acceleration_of(const Groups& groups, const GroupStatistic& statistic) {
  std::vector<double> influences;
  Groups left = groups;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto n = static_cast<double>(groups[g].size());
    std::vector<double> values;
    left[g].pop_back();
    for (std::size_t i = groups[g].size(); i-- > 0;) {  // from the end: one move a step
      values.push_back(value_of(statistic, left));
      if (i > 0) left[g][i - 1] = groups[g][i];
    }
    left[g] = groups[g];
    const double mean = moments(values).mean;
    for (const double value : values)
      influences.push_back((n - 1) / n * (mean - value));
  }
  double largest = 0;
  for (const double influence : influences)
    largest = std::max(largest, std::abs(influence));
  const double unit = unit_of(largest);  // so that no cube is none, or infinite
  double cubes = 0;
  double squares = 0;
  for (const double influence : influences) {
    const double scaled = influence / unit;
    squares += scaled * scaled;
    cubes += scaled * scaled * scaled;
  }
  return squares > 0 ? cubes / std::pow(squares, 1.5) / 6 : 0;
}

/// Linear between neighbours (type 7 of R. Hyndman, Y. Fan, Am. Stat. 50, 1996).
double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  if (low + 1 >= sorted.size()) return sorted.back();
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[low + 1] - sorted[low]);
}

}  // namespace

std::optional<BootstrapInterval> bca_interval(const Groups& groups,
                                              const GroupStatistic& statistic,
                                              const Resampling& how) {
  const auto is_small = [](const auto& group) { return group.size() < fewest; };
  if (groups.empty() || how.resamples == 0 || std::ranges::any_of(groups, is_small))
    return std::nullopt;
  BootstrapInterval result;
  result.how = how;
  result.estimate = value_of(statistic, groups);
  std::vector<double> values = resampled_values(groups, statistic, how);
  if (!std::isfinite(result.estimate) || !all_finite(values)) return std::nullopt;
  std::ranges::sort(values);
  if (values.front() == values.back()) {
    result.interval = {values.front(), values.back()};
    return result;
  }
  // Values that are equal to the estimate count for half, as for a statistic with few values.
  const auto [first, last] = std::equal_range(values.begin(), values.end(), result.estimate);
  const double rank = static_cast<double>((first - values.begin()) + (last - values.begin())) / 2;
  const auto all = static_cast<double>(values.size());
  const double share = std::clamp(rank, 0.5, all - 0.5) / all;
  const boost::math::normal normal;
  result.bias = boost::math::quantile(normal, share);
  result.acceleration = acceleration_of(groups, statistic);
  const auto adjusted = [&](double z) {
    const double sum = result.bias + z;
    const double turned = result.bias + sum / (1 - result.acceleration * sum);
    return std::isfinite(turned) ? boost::math::cdf(normal, turned) : (z > 0 ? 1.0 : 0.0);
  };
  const double z = boost::math::quantile(normal, 1 - how.alpha / 2);
  result.interval = {percentile(values, adjusted(-z)), percentile(values, adjusted(z))};
  return result;
}

}  // namespace sabath::compare

#include <sabath/compare/sample.hpp>
#include <sabath/compare/statistical_power.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sabath::compare {
namespace {

/// The squared standard deviations that a group's runs may show, in units of the true one, each as
/// likely as any other.
std::vector<double> possible_variances(std::uint64_t runs, std::size_t slices) {
  const auto freedom = static_cast<double>(runs - 1);
  const boost::math::chi_squared distribution(freedom);
  std::vector<double> variances;
  for (std::size_t i = 0; i < slices; ++i) {
    const double probability = (static_cast<double>(i) + 0.5) / static_cast<double>(slices);
    variances.push_back(boost::math::quantile(distribution, probability) / freedom);
  }
  return variances;
}

/// A pair of variances that the groups show, and what the tests make of it.
struct Shown {
  double error = 0;  ///< of the difference of the means
  boost::math::students_t distribution{1};

  double critical(double tail) const {
    return boost::math::quantile(boost::math::complement(distribution, tail));
  }
};

/// The mean of `chance(Shown)` over the variances that groups of these standard deviations show.
template <class Chance>
double averaged(std::uint64_t runs, double sd_a, double sd_b, std::size_t slices, Chance&& chance) {
  const std::vector<double> variances = possible_variances(runs, slices);
  const bool exchangeable = sd_a == sd_b;  // the groups may change places
  const bool is_alone = sd_b == 0;         // all slices of B are equal
  const auto weight = [&](std::size_t i, std::size_t j) {
    if (is_alone) return static_cast<double>(slices);
    return exchangeable && i != j ? 2.0 : 1.0;
  };
  double sum = 0;
  for (std::size_t i = 0; i < slices; ++i) {
    for (std::size_t j = 0; j < (is_alone ? 1 : exchangeable ? i + 1 : slices); ++j) {
      const double a = sd_a * sd_a * variances[i];
      const double b = sd_b * sd_b * variances[j];
      const double share = a / (a + b);
      const double freedom =
          static_cast<double>(runs - 1) / (share * share + (1 - share) * (1 - share));
      const Shown shown{std::sqrt((a + b) / static_cast<double>(runs)),
                        boost::math::students_t(freedom)};
      sum += weight(i, j) * chance(shown);
    }
  }
  return sum / static_cast<double>(slices * slices);
}

double true_error(std::uint64_t runs, double sd_a, double sd_b) {
  return std::sqrt((sd_a * sd_a + sd_b * sd_b) / static_cast<double>(runs));
}

/// Probability that a normal value lies within `width` of zero.
double within(double width, double mean, double sd) {
  if (!(width > 0)) return 0;
  const boost::math::normal normal(mean, sd);
  return boost::math::cdf(normal, width) - boost::math::cdf(normal, -width);
}

}  // namespace

/// Averages over the variances. Given both variances, both one-sided tests succeed where the
/// difference of the means lies within margin - t * (shown standard error) of zero. The difference
/// is normal with the true standard error; t has the degrees of freedom of Welch and Satterthwaite.
double equivalence_power(int runs, double margin_in_sigma, double alpha) {
  if (runs < 2) return 0;
  const auto n = static_cast<std::uint64_t>(runs);
  return averaged(n, 1, 1, 80, [&](const Shown& shown) {
    return within(margin_in_sigma - shown.critical(alpha) * shown.error, 0, true_error(n, 1, 1));
  });
}

/// Undecided are differences that are neither within the room of TOST nor beyond what Welch's test
/// takes for none.
double decision_power(std::uint64_t runs, const TruePair& pair, double alpha) {
  if (runs < 2) return 0;
  const double unit = unit_of(std::max(pair.sd_a, pair.sd_b));  // squares stay numbers
  const double sd_a = pair.sd_a / unit;
  const double sd_b = pair.sd_b / unit;
  const double margin = pair.margin / unit;
  const double difference = pair.difference / unit;
  const double error = true_error(runs, sd_a, sd_b);
  if (!(error > 0) || !std::isfinite(difference)) return 1;
  const double tests = static_cast<double>(pair.tests);
  return averaged(runs, sd_a, sd_b, 24, [&](const Shown& shown) {
    const double room = margin - shown.critical(alpha) * shown.error;
    const double same = shown.critical(alpha / 2 / tests) * shown.error;
    if (room >= same) return 1.0;
    return 1 - within(same, difference, error) + within(room, difference, error);
  });
}

std::optional<std::uint64_t> runs_to_decide(const TruePair& pair,
                                            double alpha,
                                            double wanted,
                                            std::uint64_t most) {
  const bool is_finite = std::isfinite(pair.difference) && std::isfinite(pair.margin) &&
                         std::isfinite(pair.sd_a) && std::isfinite(pair.sd_b);
  if (!is_finite) return std::nullopt;
  const auto decides = [&](std::uint64_t runs) {
    return decision_power(runs, pair, alpha) >= wanted;
  };
  std::uint64_t enough = 2;
  while (enough < most && !decides(enough))
    enough = std::min(2 * enough, most);
  if (!decides(enough)) return std::nullopt;
  std::uint64_t low = enough / 2;  // too few, or 1
  while (enough - low > 1) {
    const std::uint64_t middle = low + (enough - low) / 2;
    (decides(middle) ? enough : low) = middle;
  }
  return enough;
}

}  // namespace sabath::compare

#include <sabath/compare/power.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <cmath>
#include <vector>

namespace sabath::compare {
namespace {

constexpr std::size_t slices = 80;

/// The squared standard deviations that a group's runs may show, each as likely as any other.
std::vector<double> possible_variances(int runs) {
  const boost::math::chi_squared distribution(runs - 1);
  std::vector<double> variances;
  for (std::size_t i = 0; i < slices; ++i) {
    const double probability = (static_cast<double>(i) + 0.5) / slices;
    variances.push_back(boost::math::quantile(distribution, probability) / (runs - 1));
  }
  return variances;
}

}  // namespace

/// Given both variances, both one-sided tests succeed where the difference of the means, normal
/// with the true standard error, lies within margin - t * (shown standard error) of zero; t has the
/// degrees of freedom of Welch and Satterthwaite. Averaged over the variances.
double equivalence_power(int runs, double margin_in_sigma, double alpha) {
  if (runs < 2) return 0;
  const double true_error = std::sqrt(2.0 / runs);
  const boost::math::normal normal;
  const std::vector<double> variances = possible_variances(runs);
  double sum = 0;
  for (std::size_t i = 0; i < slices; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {  // the groups may change places
      const double a = variances[i];
      const double b = variances[j];
      const double freedom = (runs - 1) * (a + b) * (a + b) / (a * a + b * b);
      const double t = boost::math::quantile(boost::math::students_t(freedom), 1 - alpha);
      const double room = (margin_in_sigma - t * std::sqrt((a + b) / runs)) / true_error;
      if (room > 0) sum += (i == j ? 1 : 2) * (2 * boost::math::cdf(normal, room) - 1);
    }
  }
  return sum / (slices * slices);
}

}  // namespace sabath::compare

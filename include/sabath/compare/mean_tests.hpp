#pragma once

#include <sabath/compare/sample.hpp>

#include <optional>
#include <vector>

namespace sabath::compare {

/// Probability that Student's t with so many degrees of freedom exceeds `t`, and the t that is
/// exceeded with probability `tail`.
double t_tail(double t, double freedom);
double t_exceeded(double tail, double freedom);

/// Welch's t test: do the means of two groups differ? A missing difference does not prove
/// agreement.
struct Welch {
  double difference = 0;  ///< mean of a - mean of b
  double standard_error = 0;
  double t = 0;
  double freedom = 0;  ///< Welch and Satterthwaite
  double p = 1;        ///< two-sided
};

/// t = d / se, se^2 = va/n + vb/m, freedom = se^4 / ((va/n)^2/(n-1) + (vb/m)^2/(m-1)) (B. L. Welch,
/// Biometrika 34, 1947). Returns nothing where a side has fewer than two values or both variances
/// are zero. Also where a mean, a standard deviation or the difference is not finite.
std::optional<Welch> welch_test(const Moments& a, const Moments& b);

/// Student's t test of pairs by their differences; freedom is n - 1. Returns nothing as
/// `welch_test` does.
std::optional<Welch> paired_test(const Moments& differences);

/// Interval of the true difference at 1 - alpha.
Interval difference_interval(const Welch& test, double alpha = 0.05);

/// mean +- t(1 - alpha/2, n - 1) * s / sqrt(n). Returns nothing for fewer than two values, or where
/// the mean or the spread is not finite.
std::optional<Interval> mean_interval(const Moments& values, double alpha = 0.05);

/// Two one-sided tests: do the means differ by less than a margin?
struct Equivalence {
  double margin = 0;
  double p = 1;         ///< the greater of the two
  Interval interval{};  ///< of the difference, at 1 - 2 alpha
  bool holds = false;   ///< p < alpha, which is: the interval lies within (-margin, margin)
};

/// TOST with the error and the degrees of freedom of Welch (D. J. Schuirmann, J. Pharmacokinet.
/// Biopharm. 15, 1987; the latter as in D. Lakens, Soc. Psychol. Personal. Sci. 8, 2017). Returns
/// nothing as `welch_test` does, and for a margin that is negative or NaN. A margin of zero never
/// holds.
std::optional<Equivalence> equivalence_test(const Moments& a,
                                            const Moments& b,
                                            double margin,
                                            double alpha = 0.05);

/// The same of a difference with its error. The margin is not negative.
Equivalence equivalence_test(const Welch& test, double margin, double alpha = 0.05);

/// Difference of the means in pooled standard deviations, without the bias of small groups: (mean a
/// - mean b) / s * Gamma(f/2) / (sqrt(f/2) Gamma((f-1)/2)), f = n + m - 2 (L. V. Hedges, J. Educ.
/// Stat. 6, 1981). Returns nothing for f < 2, where s is zero or infinite, or a mean is NaN.
std::optional<double> hedges_g(const Moments& a, const Moments& b);

/// mean +- t(1 - alpha/2, n - 1) * s * sqrt(1 + 1/n): contains one more run of the same kind with
/// probability 1 - alpha. Returns nothing for fewer than two references.
std::optional<Interval> prediction_interval(const Moments& reference, double alpha = 0.01);

/// sqrt((va + vb) / 2).
double mean_sd(const Moments& a, const Moments& b);

/// Adjusts the p values of a family of tests, so that each can be compared with alpha (S. Holm,
/// Scand. J. Stat. 6, 1979). NaN stays NaN, and counts as a test of the family.
std::vector<double> holm(std::span<const double> p);

}  // namespace sabath::compare

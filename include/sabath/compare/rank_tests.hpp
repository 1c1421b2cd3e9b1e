#pragma once

#include <sabath/compare/sample.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sabath::compare {

/// Pairs of one value of each group, by which of the two is greater.
struct PairCounts {
  std::uint64_t greater = 0;  ///< a > b
  std::uint64_t less = 0;
  std::uint64_t equal = 0;

  double total() const { return static_cast<double>(greater + less + equal); }
  /// (greater - less) / all, in [-1, 1] (N. Cliff, Psychol. Bull. 114, 1993).
  double cliffs_delta() const;
  bool operator==(const PairCounts&) const = default;
};

/// Counts the pairs without NaN in n log n.
PairCounts count_pairs(std::span<const double> a, std::span<const double> b);

struct RankTest {
  double statistic = 0;
  double p = 1;        ///< two-sided
  bool exact = false;  ///< else by the limiting distribution
};

/// Why a Mann-Whitney test of that many values is refused; empty: it is accepted.
std::string mann_whitney_refusal(std::uint64_t n, std::uint64_t m);

/// U = R_a - n(n+1)/2 with mean ranks for ties (H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18,
/// 1947). Exact for n * m <= 400, over all divisions of the pooled values into groups of these
/// sizes. Else normal, corrected for ties and continuity. Returns nothing where the test is
/// refused, where a value is NaN, or where all values are equal beyond those sizes.
std::optional<RankTest> mann_whitney(std::span<const double> a, std::span<const double> b);

/// Kolmogorov-Smirnov test: D = sup abs(F_a - F_b). Exact for n * m <= 1,000,000 by counting
/// lattice paths (J. L. Hodges, Ark. Mat. 3, 1958), with steps only between ties of the pooled
/// values. Else by Kolmogorov's limit. Returns nothing for an empty side or NaN.
std::optional<RankTest> kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

/// The median of all differences a_i - b_j, and an interval for the shift from the order of those
/// differences (J. L. Hodges, E. L. Lehmann, Ann. Math. Stat. 34, 1963).
struct Shift {
  double estimate = 0;
  /// Covers at least 1 - alpha; nothing for too few values.
  std::optional<Interval> interval{};
};

/// Exact without listing the differences: time and memory grow with n + m. The interval is exact
/// for n * m <= 400, else the normal approximation. Returns nothing for an empty side or a value
/// that is not finite.
std::optional<Shift> hodges_lehmann(std::span<const double> a,
                                    std::span<const double> b,
                                    double alpha = 0.05);

/// Interval of the median, from the order of the values. Covers at least 1 - alpha for any
/// distribution (W. R. Thompson, Ann. Math. Stat. 7, 1936). Returns nothing for too few values
/// (below 6 for 95 %) or NaN.
std::optional<Interval> median_interval(std::span<const double> values, double alpha = 0.05);

/// Interval of hodges_lehmann alone, in half the time. Returns nothing in the same cases, and for
/// too few values.
std::optional<Interval> shift_interval(std::span<const double> a,
                                       std::span<const double> b,
                                       double alpha = 0.05);

}  // namespace sabath::compare

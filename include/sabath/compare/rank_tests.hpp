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
  /// (greater + equal / 2) / all: the chance that a run of a is above one of b.
  double superiority() const;
  bool operator==(const PairCounts&) const = default;
};

/// Values that are NaN are in no pair. In n log n, whatever the number of pairs.
PairCounts count_pairs(std::span<const double> a, std::span<const double> b);

struct RankTest {
  double statistic = 0;
  double p = 1;        ///< two-sided
  bool exact = false;  ///< else by the limiting distribution

  bool operator==(const RankTest&) const = default;
};

/// Why a Mann-Whitney test of so many values is refused; empty: it is not.
std::string mann_whitney_refusal(std::uint64_t n, std::uint64_t m);

/// U = R_a - n(n+1)/2 with mean ranks for ties (H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18,
/// 1947). Exact over all divisions of the pooled values into groups of these sizes for n * m <=
/// 400, ties as they are; else normal, with the corrections for ties and continuity. Nothing where
/// it is refused, where a value is NaN, or all are equal beyond those sizes.
std::optional<RankTest> mann_whitney(std::span<const double> a, std::span<const double> b);

/// Kolmogorov and Smirnov: D = sup abs(F_a - F_b). Exact for n * m <= 1,000,000 by counting
/// lattice paths (J. L. Hodges, Ark. Mat. 3, 1958), steps only where the pooled values are no tie;
/// else by Kolmogorov's limit. Nothing for an empty side or NaN.
std::optional<RankTest> kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

/// The median of all differences a_i - b_j, and an interval for the shift from the order of those
/// differences (J. L. Hodges, E. L. Lehmann, Ann. Math. Stat. 34, 1963).
struct Shift {
  double estimate = 0;
  /// At least at 1 - alpha; nothing where so few values give none.
  std::optional<Interval> interval{};

  bool operator==(const Shift&) const = default;
};

/// Exact without making the differences: time grows with n + m, memory too. The interval is exact
/// for n * m <= 400, else by the normal approximation. Nothing for an empty side or where a value
/// is not finite.
std::optional<Shift> hodges_lehmann(std::span<const double> a,
                                    std::span<const double> b,
                                    double alpha = 0.05);

/// Of the median, from the order of the values: at least at 1 - alpha, whatever they are drawn from
/// (W. R. Thompson, Ann. Math. Stat. 7, 1936). Nothing where so few values give none (below 6 for
/// 95 %), or one is NaN.
std::optional<Interval> median_interval(std::span<const double> values, double alpha = 0.05);

/// Only that interval, in half the time. Nothing as above, and where so few values give none.
std::optional<Interval> shift_interval(std::span<const double> a,
                                       std::span<const double> b,
                                       double alpha = 0.05);

}  // namespace sabath::compare

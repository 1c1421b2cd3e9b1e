#include <sabath/compare/rank_tests.hpp>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace sabath::compare {
namespace {

constexpr double most_exact_pairs = 400;
constexpr double most_exact_paths = 1e6;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::ranges::sort(result);
  return result;
}

bool has_nan(std::span<const double> values) {
  return std::ranges::any_of(values, [](double v) { return std::isnan(v); });
}

struct Pooled {
  std::vector<std::uint64_t> doubled_ranks{};  ///< twice the mean rank: a whole number
  double rank_sum_a = 0;
  double tie_term = 0;  ///< sum of t^3 - t over ties of t values
};

Pooled pool(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  all.reserve(a.size() + b.size());
  for (const double value : a)
    all.emplace_back(value, true);
  for (const double value : b)
    all.emplace_back(value, false);
  std::ranges::sort(all);
  Pooled pooled;
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    std::size_t of_a = 0;
    for (; to < all.size() && all[to].first == all[from].first; ++to)
      of_a += all[to].second ? 1 : 0;
    const std::uint64_t doubled = from + 1 + to;
    pooled.doubled_ranks.insert(pooled.doubled_ranks.end(), to - from, doubled);
    pooled.rank_sum_a += static_cast<double>(of_a) * static_cast<double>(doubled) / 2;
    const auto tied = static_cast<double>(to - from);
    pooled.tie_term += tied * tied * tied - tied;
    from = to;
  }
  return pooled;
}

/// In how many ways `chosen` of the ranks have each sum. Doubles hold these numbers exactly for the
/// sizes that are asked for.
std::vector<double> ways_of_sums(const std::vector<std::uint64_t>& ranks, std::size_t chosen) {
  const std::uint64_t total = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
  const std::size_t width = total + 1;
  std::vector<double> ways((chosen + 1) * width, 0);
  ways[0] = 1;
  for (const std::uint64_t rank : ranks) {
    for (std::size_t k = chosen; k >= 1; --k) {
      double* const to = &ways[k * width];
      const double* const from = &ways[(k - 1) * width];
      for (std::size_t sum = width - 1; sum >= rank; --sum)
        to[sum] += from[sum - rank];
    }
  }
  return {ways.end() - static_cast<std::ptrdiff_t>(width), ways.end()};
}

/// Probability that a sum is at least as far from its mean.
double exact_rank_p(const Pooled& pooled, std::size_t n, std::size_t m) {
  const std::size_t chosen = std::min(n, m);  // the other's sum is all but this
  const std::vector<double> ways = ways_of_sums(pooled.doubled_ranks, chosen);
  const auto total = static_cast<std::int64_t>(ways.size()) - 1;
  const auto middle = static_cast<std::int64_t>(chosen * (n + m + 1));  // of the doubled sum
  const std::int64_t of_a = std::llround(2 * pooled.rank_sum_a);
  const std::int64_t seen = chosen == n ? of_a : total - of_a;
  double extreme = 0;
  double all = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if (std::abs(static_cast<std::int64_t>(sum) - middle) >= std::abs(seen - middle))
      extreme += ways[sum];
  }
  return extreme / all;
}

/// A double as an integer in the same order, for bisection.
std::int64_t order_of(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value + 0.0);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

double value_of(std::int64_t order) {
  return std::bit_cast<double>(order >= 0 ? order
                                          : std::numeric_limits<std::int64_t>::min() - order);
}

/// Numbers of differences of sorted values below and at a limit.
struct Passed {
  std::uint64_t count = 0;      ///< no greater than it
  double greatest = -HUGE_VAL;  ///< of these
  double next = HUGE_VAL;       ///< the least of all others
};

Passed pass(const std::vector<double>& a, const std::vector<double>& b, double limit) {
  Passed passed;
  std::size_t i = 0;
  for (const double of_b : b) {  // the greater it is, the more of a stay below
    while (i < a.size() && a[i] - of_b <= limit)
      ++i;
    passed.count += i;
    if (i > 0) passed.greatest = std::max(passed.greatest, a[i - 1] - of_b);
    if (i < a.size()) passed.next = std::min(passed.next, a[i] - of_b);
  }
  return passed;
}

/// The k-th smallest (from 1) of the few differences in (low, high].
double kth_between(const std::vector<double>& a,
                   const std::vector<double>& b,
                   double low,
                   double high,
                   std::uint64_t k) {
  std::vector<double> differences;
  std::size_t i = 0;
  for (const double of_b : b) {
    while (i < a.size() && a[i] - of_b <= low)
      ++i;
    for (std::size_t j = i; j < a.size() && a[j] - of_b <= high; ++j)
      differences.push_back(a[j] - of_b);
  }
  const auto at = differences.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(differences.begin(), at, differences.end());
  return *at;
}

/// The k-th smallest (from 1) of all differences a_i - b_j: rounding keeps their order. Narrows a
/// lower and a higher bound by the number of differences below each: in turn by interpolation,
/// beyond it, and by halves. So it also ends where many are equal.
double kth_difference(const std::vector<double>& a, const std::vector<double>& b, std::uint64_t k) {
  std::int64_t low = order_of(a.front() - b.back()) - 1;
  std::int64_t high = order_of(a.back() - b.front());
  std::uint64_t to_low = 0;  // so many are not greater: fewer than k
  std::uint64_t to_high = std::uint64_t{a.size()} * b.size();
  for (unsigned turn = 0; low + 1 < high; ++turn) {
    if (to_high - to_low <= a.size() + b.size())
      return kth_between(a, b, value_of(low), value_of(high), k - to_low);
    const double from = value_of(low);
    const double width = value_of(high) - from;
    double share = (static_cast<double>(k - to_low) - 0.5) / static_cast<double>(to_high - to_low);
    if (turn % 3 == 1) share = share < 0.5 ? 2 * share : 2 * share - 1;
    const bool halves = turn % 3 == 2 || !std::isfinite(width) || !std::isfinite(from);
    const std::int64_t middle = std::clamp(
        halves ? std::midpoint(low, high) : order_of(from + share * width), low + 1, high - 1);
    const Passed passed = pass(a, b, value_of(middle));
    if (passed.count >= k) {
      high = order_of(passed.greatest);
      to_high = passed.count;
    } else {
      low = order_of(passed.next) - 1;
      to_low = passed.count;
    }
  }
  return value_of(high);
}

/// How many differences at each end an interval for the shift leaves out: the greatest k with
/// P(U < k) <= alpha / 2.
std::uint64_t left_out(std::size_t n, std::size_t m, double alpha) {
  const auto pairs = static_cast<double>(n) * static_cast<double>(m);
  if (pairs > most_exact_pairs) {
    const double sigma = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    const double z = boost::math::quantile(boost::math::normal(), 1 - alpha / 2);
    return static_cast<std::uint64_t>(std::max(0.0, std::floor(pairs / 2 - z * sigma)));
  }
  std::vector<std::uint64_t> ranks(n + m);
  std::iota(ranks.begin(), ranks.end(), std::uint64_t{1});
  const std::size_t chosen = std::min(n, m);
  const std::vector<double> ways = ways_of_sums(ranks, chosen);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const std::size_t least = chosen * (chosen + 1) / 2;
  double below = 0;
  std::uint64_t k = 0;
  while (least + k < ways.size()) {
    below += ways[least + k];
    if (below / all > alpha / 2) break;
    ++k;
  }
  return k;
}

std::optional<Interval> interval_of_sorted(const std::vector<double>& a,
                                           const std::vector<double>& b,
                                           double alpha) {
  const std::uint64_t k = left_out(a.size(), b.size(), alpha);
  if (k == 0) return std::nullopt;
  const std::uint64_t pairs = std::uint64_t{a.size()} * b.size();
  return Interval{kth_difference(a, b, k), kth_difference(a, b, pairs + 1 - k)};
}

/// The widest gap between two distribution functions, times n m, which is a whole number.
/// `ends_step`: after which pooled values a step ends, since ties are one step.
struct Gap {
  std::int64_t widest = 0;
  std::vector<char> ends_step{};
};

Gap widest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  Gap gap;
  gap.ends_step.assign(a.size() + b.size() + 1, 0);
  const auto n = static_cast<std::int64_t>(a.size());
  const auto m = static_cast<std::int64_t>(b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
    const double value = from_a ? a[i] : b[j];
    i = static_cast<std::size_t>(std::upper_bound(a.begin(), a.end(), value) - a.begin());
    j = static_cast<std::size_t>(std::upper_bound(b.begin(), b.end(), value) - b.begin());
    gap.ends_step[i + j] = 1;
    const auto apart = static_cast<std::int64_t>(i) * m - static_cast<std::int64_t>(j) * n;
    gap.widest = std::max(gap.widest, std::abs(apart));
  }
  return gap;
}

/// Probability that a random path from (0, 0) to (n, m) reaches that distance.
double chance_of_paths(const Gap& gap, std::int64_t n, std::int64_t m) {
  std::vector<double> out(static_cast<std::size_t>(m) + 1, 0);
  for (std::int64_t x = 0; x <= n; ++x) {
    for (std::int64_t y = 0; y <= m; ++y) {
      const auto at = static_cast<std::size_t>(y);
      const auto both = static_cast<double>(x + y);
      const double by_a = x > 0 ? static_cast<double>(x) / both * out[at] : 0;
      const double by_b = y > 0 ? static_cast<double>(y) / both * out[at - 1] : 0;
      const bool is_out = gap.ends_step[static_cast<std::size_t>(x + y)] != 0 &&
                          std::abs(x * m - y * n) >= gap.widest;
      out[at] = is_out ? 1 : by_a + by_b;
    }
  }
  return out.back();
}

/// 2 sum (-1)^(k-1) exp(-2 k^2 x^2); below 0.2 that is 1 to all digits.
double kolmogorov_tail(double x) {
  if (x < 0.2) return 1;
  double tail = 0;
  for (int k = 1; k <= 100; ++k)
    tail += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(tail, 0.0, 1.0);
}

}  // namespace

double PairCounts::cliffs_delta() const {
  return (static_cast<double>(greater) - static_cast<double>(less)) / total();
}

PairCounts count_pairs(std::span<const double> a, std::span<const double> b) {
  std::vector<double> others(b.begin(), b.end());
  std::erase_if(others, [](double value) { return std::isnan(value); });
  std::ranges::sort(others);
  PairCounts counts;
  for (const double value : a) {
    if (std::isnan(value)) continue;
    const auto [first, last] = std::equal_range(others.begin(), others.end(), value);
    counts.greater += static_cast<std::uint64_t>(first - others.begin());
    counts.equal += static_cast<std::uint64_t>(last - first);
    counts.less += static_cast<std::uint64_t>(others.end() - last);
  }
  return counts;
}

std::string mann_whitney_refusal(std::uint64_t n, std::uint64_t m) {
  if (std::min(n, m) >= 4) return {};
  return "Mann-Whitney needs at least 4 runs a side: of 3 and 3 the smallest p there can be is "
         "0.10";
}

std::optional<RankTest> mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (!mann_whitney_refusal(a.size(), b.size()).empty() || has_nan(a) || has_nan(b))
    return std::nullopt;
  const Pooled pooled = pool(a, b);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  RankTest test;
  test.statistic = pooled.rank_sum_a - n * (n + 1) / 2;
  test.exact = n * m <= most_exact_pairs;
  if (test.exact) {
    test.p = exact_rank_p(pooled, a.size(), b.size());
    return test;
  }
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - pooled.tie_term / (all * (all - 1)));
  if (!(variance > 0)) return std::nullopt;
  const double distance = std::max(0.0, std::abs(test.statistic - n * m / 2) - 0.5);
  test.p = 2 * boost::math::cdf(
                   boost::math::complement(boost::math::normal(), distance / std::sqrt(variance)));
  return test;
}

std::optional<RankTest> kolmogorov_smirnov(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || has_nan(a) || has_nan(b)) return std::nullopt;
  const Gap gap = widest_gap(sorted(a), sorted(b));
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  RankTest test;
  test.statistic = static_cast<double>(gap.widest) / (n * m);
  test.exact = n * m <= most_exact_paths;
  test.p = test.exact
               ? chance_of_paths(
                     gap, static_cast<std::int64_t>(a.size()), static_cast<std::int64_t>(b.size()))
               : kolmogorov_tail(test.statistic * std::sqrt(n * m / (n + m)));
  return test;
}

std::optional<Shift> hodges_lehmann(std::span<const double> a,
                                    std::span<const double> b,
                                    double alpha) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return std::nullopt;
  const std::vector<double> of_a = sorted(a);
  const std::vector<double> of_b = sorted(b);
  const std::uint64_t pairs = std::uint64_t{a.size()} * b.size();
  const double lower = kth_difference(of_a, of_b, (pairs + 1) / 2);
  const double upper = pairs % 2 == 1 ? lower : kth_difference(of_a, of_b, pairs / 2 + 1);
  Shift shift;
  shift.estimate = lower + (upper - lower) / 2;
  shift.interval = interval_of_sorted(of_a, of_b, alpha);
  return shift;
}

std::optional<Interval> median_interval(std::span<const double> values, double alpha) {
  if (values.empty() || has_nan(values)) return std::nullopt;
  // Of n values so many lie below the median as heads fall in n throws.
  const boost::math::binomial below(static_cast<double>(values.size()), 0.5);
  double outside = std::floor(boost::math::quantile(below, alpha / 2));
  while (outside >= 0 && boost::math::cdf(below, outside) > alpha / 2)
    --outside;
  if (outside < 0) return std::nullopt;
  std::vector<double> ordered(values.begin(), values.end());
  const auto at = [&](std::size_t place) {
    const auto found = ordered.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(ordered.begin(), found, ordered.end());
    return *found;
  };
  const auto lowest = static_cast<std::size_t>(outside);
  const double low = at(lowest);
  return Interval{low, at(values.size() - 1 - lowest)};
}

std::optional<Interval> shift_interval(std::span<const double> a,
                                       std::span<const double> b,
                                       double alpha) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return std::nullopt;
  return interval_of_sorted(sorted(a), sorted(b), alpha);
}

}  // namespace sabath::compare

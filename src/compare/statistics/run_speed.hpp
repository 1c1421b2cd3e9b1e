#pragma once

#include <sabath/compare/sample.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace sabath::compare {

/// Fewer steps of one run do not show its bursts and its drift.
inline constexpr std::size_t fewest_steps = 128;

/// log(b) - log(a) of two single runs.
struct RunDifference {
  Interval interval{};      ///< wider where a drift shows
  double unseen_drift = 0;  ///< of a drift within the noise, at each end
  bool drifts = false;      ///< a drift shows
  bool unsteady = false;    ///< changes by more than `steady_speed`
};

/// Where the logarithm of a run's speed departs further from its mean, no model holds.
inline constexpr double steady_speed = 0.25;

/// The difference of two runs' speeds, from the logarithms of their values in the order of time.
/// Each end of the interval is passed with probability `alpha`. Steps of one run are not
/// independent draws, so the interval counts what lasts longer than a step:
///
/// 1. A run is cut into stretches of sqrt(n) / 3 steps. Each counts as the mean of its middle half:
///    single slow steps do not matter. A run's location is the mean over its stretches.
/// 2. Its standard error comes from the q = 0.15 n^(2/3) (100 at most) lowest cosine coefficients
///    of the stretches (the equal-weighted cosine estimator of the long-run variance: E. Lazarus,
///    D. Lewis, J. Stock, M. Watson, J. Bus. Econ. Stat. 36, 2018; U. Mueller, Econometrica 75,
///    2007). It has q degrees of freedom; those of both runs are joined as Welch and Satterthwaite
///    do, and the quantile is Student's. Their rule has 0.41 n^(2/3); fewer coefficients keep the
///    level up to an autocorrelation of 0.9.
/// 3. A drift has more power in the first one or two coefficients than in the others; an F test
///    against the others shows it. With p < 0.04 for either, the interval grows by 1.2 times the
///    largest departure of those two from the mean, in full from p = 0.01 down, in proportion
///    above. That is enough for FAIL, from which the allowed margin separates a small drift.
/// 4. For PASS a drift must be excluded, also one as small as the noise. `unseen_drift` is what
///    the same rule adds from p = 0.4 down, in full from p = 0.1 down.
///
/// The constants are measured, not derived: tests/bench/speed_bench.cpp. Nothing for fewer than
/// `fewest_steps` values on a side, or where one is not finite.
std::optional<RunDifference> difference_of_runs(std::span<const double> a,
                                                std::span<const double> b,
                                                double alpha);

}  // namespace sabath::compare

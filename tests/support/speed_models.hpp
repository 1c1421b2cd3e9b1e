#pragma once

#include <sabath/compare/speed.hpp>

#include <boost/math/distributions/normal.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace sabath::test {

/// The same numbers on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11U) + 0.5) * 0x1p-53; }
  /// Marsaglia's polar method.
  double normal() {
    while (true) {
      const double u = 2 * uniform() - 1;
      const double v = 2 * uniform() - 1;
      const double s = u * u + v * v;
      if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
    }
  }

 private:
  std::mt19937_64 engine_;
};

/// A distribution of runs: the logarithms of their step times.
struct SpeedModel {
  std::string name{};
  std::function<std::vector<double>(Draw&, int steps)> run{};
  /// The standard error of a run's location for an oracle that knows the model and its parameters,
  /// of drifts and bursts even their course.
  std::function<double(int steps)> oracle_error{};
  int needs_power_from = 0;  ///< steps from which 0.9 of the oracle's power is demanded; 0: never
};

inline SpeedModel independent_steps(double sd, int needs_power_from = 0) {
  return {"independent, sd " + std::to_string(std::lround(100 * sd)) + " %",
          [=](Draw& draw, int steps) {
            std::vector<double> logs(static_cast<std::size_t>(steps));
            for (double& log : logs)
              log = sd * draw.normal();
            return logs;
          },
          [=](int steps) { return sd / std::sqrt(steps); },
          needs_power_from};
}

/// AR(1); the oracle weighs by generalised least squares.
inline SpeedModel autocorrelated_steps(double phi, double sd, int needs_power_from = 0) {
  return {"autocorrelated 0.9, sd " + std::to_string(std::lround(100 * sd)) + " %",
          [=](Draw& draw, int steps) {
            std::vector<double> logs;
            double now = sd * draw.normal();
            for (int i = 0; i < steps; ++i) {
              logs.push_back(now);
              now = phi * now + sd * std::sqrt(1 - phi * phi) * draw.normal();
            }
            return logs;
          },
          [=](int steps) { return sd * std::sqrt((1 + phi) / (steps * (1 - phi) + 2 * phi)); },
          needs_power_from};
}

/// Adds a course to independent steps: a straight line or a random walk, `size` is the standard
/// deviation of where it ends.
inline SpeedModel drifting_steps(bool straight, double size, double sd) {
  return {std::string("drifting, ") + (straight ? "line " : "random walk ") +
              std::to_string(std::lround(100 * size)) + " %, sd " +
              std::to_string(std::lround(100 * sd)) + " %",
          [=](Draw& draw, int steps) {
            std::vector<double> logs;
            const double end = size * draw.normal();
            double now = 0;
            for (int i = 0; i < steps; ++i) {
              logs.push_back(now + sd * draw.normal());
              now += straight ? end / steps : size * draw.normal() / std::sqrt(steps);
            }
            return logs;
          },
          [=](int steps) { return sd / std::sqrt(steps); }};
}

/// Bursts of `factor` that last `length` steps in the mean, `share` of the time.
inline SpeedModel bursty_steps(double factor, double length, double share, double sd = 0.05) {
  return {"bursty, " + std::to_string(std::lround(100 * factor)) + " % of the time for " +
              std::to_string(std::lround(length)) + " steps, " +
              std::to_string(std::lround(100 * share)) + " % of all",
          [=](Draw& draw, int steps) {
            std::vector<double> logs;
            bool is_slow = draw.uniform() < share;
            for (int i = 0; i < steps; ++i) {
              logs.push_back(sd * draw.normal() + (is_slow ? std::log(factor) : 0));
              const double leaves = is_slow ? 1 / length : share / (1 - share) / length;
              if (draw.uniform() < leaves) is_slow = !is_slow;
            }
            return logs;
          },
          [=](int steps) { return sd / std::sqrt(steps); }};
}

/// Student's t with 2 degrees of freedom; the oracle's error is that of maximum likelihood, which
/// has the information 3/5 a step.
inline SpeedModel heavy_tailed_steps(double scale, int needs_power_from = 0) {
  return {"heavy-tailed (t, 2), scale " + std::to_string(std::lround(100 * scale)) + " %",
          [=](Draw& draw, int steps) {
            std::vector<double> logs;
            for (int i = 0; i < steps; ++i)
              logs.push_back(scale * draw.normal() / std::sqrt(-std::log(draw.uniform())));
            return logs;
          },
          [=](int steps) { return scale * std::sqrt(5.0 / 3 / steps); },
          needs_power_from};
}

/// How often pairs of simulated runs get each verdict, at a ratio of 1, at the allowed bound
/// of 1.05 and at twice that.
struct SpeedCounts {
  int pairs = 0;
  int false_fails = 0;         ///< at 1
  int passes = 0;              ///< at 1
  int false_passes = 0;        ///< at 1.05
  int fails_at_twice = 0;      ///< at 1.10
  int undecided_at_twice = 0;  ///< at 1.10

  double share(int count) const { return static_cast<double>(count) / pairs; }
};

inline SpeedCounts simulate_speed(const SpeedModel& model,
                                  int steps,
                                  int pairs,
                                  std::uint64_t seed,
                                  compare::Draws draws = compare::Draws::steps) {
  using spec::Verdict;
  Draw draw(seed);
  SpeedCounts counts;
  counts.pairs = pairs;
  const auto times = [](std::vector<double> logs, double factor) {
    for (double& log : logs)
      log = factor * std::exp(log);
    return logs;
  };
  for (int i = 0; i < pairs; ++i) {
    const std::vector<double> a = times(model.run(draw, steps), 1);
    const std::vector<double> b = model.run(draw, steps);
    const auto verdict = [&](double ratio) {
      return compare::judge_speed_of_peers(
                 a, times(b, ratio), spec::Better::lower, 0.05, 0.05, draws)
          .verdict;
    };
    const Verdict same = verdict(1);
    counts.false_fails += same == Verdict::fail ? 1 : 0;
    counts.passes += same == Verdict::pass ? 1 : 0;
    counts.false_passes += verdict(1.05) == Verdict::pass ? 1 : 0;
    const Verdict twice = verdict(1.10);
    counts.fails_at_twice += twice == Verdict::fail ? 1 : 0;
    counts.undecided_at_twice += twice == Verdict::inconclusive ? 1 : 0;
  }
  return counts;
}

/// The chance that an oracle of the same level, 5 % for each end, finds a ratio of 1.10 above 1.05.
inline double oracle_power(const SpeedModel& model, int steps) {
  const double error = std::sqrt(2) * model.oracle_error(steps);
  const boost::math::normal normal;
  const double critical = boost::math::quantile(normal, 0.95);
  return boost::math::cdf(normal, std::log(1.10 / 1.05) / error - critical);
}

}  // namespace sabath::test

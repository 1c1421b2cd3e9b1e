// How often PERFORMANCE of two simulated runs is right, and how fast it comes.
//   speed_bench [PAIRS [NAME]]      NAME: only models whose names contain it
// Exit status 1 where an error rate or a power is beyond what docs/verified.md says.
#include "support/speed_models.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace sabath::test;

constexpr double most_wrong = 0.06;  ///< the upper end of the simulation's interval

std::vector<SpeedModel> models() {
  std::vector<SpeedModel> all{independent_steps(0.02, 200),
                              independent_steps(0.05, 200),
                              independent_steps(0.10, 200),
                              independent_steps(0.20),
                              independent_steps(0.30),
                              autocorrelated_steps(0.9, 0.02, 2000),
                              autocorrelated_steps(0.9, 0.05, 2000),
                              autocorrelated_steps(0.9, 0.10, 2000),
                              autocorrelated_steps(0.9, 0.30)};
  for (const double size : {0.01, 0.03, 0.10, 0.30})
    all.push_back(drifting_steps(true, size, 0.05));
  for (const double size : {0.03, 0.10, 0.20})
    all.push_back(drifting_steps(true, size, 0.10));
  for (const double size : {0.03, 0.10, 0.30, 1.0})
    all.push_back(drifting_steps(false, size, 0.05));
  for (const double factor : {1.2, 1.5, 3.0}) {
    for (const double length : {5.0, 20.0, 50.0})
      all.push_back(bursty_steps(factor, length, 0.2));
  }
  all.push_back(bursty_steps(1.5, 20, 0.5));
  all.push_back(bursty_steps(3, 50, 0.5));
  for (const double scale : {0.02, 0.05, 0.10})
    all.push_back(heavy_tailed_steps(scale, 2000));
  return all;
}

/// Clopper and Pearson's, at 95 %.
double upper_end(int count, int pairs) {
  if (count == pairs) return 1;
  return boost::math::binomial::find_upper_bound_on_p(pairs, count, 0.025);
}

bool print_row(const SpeedModel& model, int steps, int pairs) {
  const SpeedCounts counts = simulate_speed(model, steps, pairs, 1);
  const double fail_end = upper_end(counts.false_fails, pairs);
  const double pass_end = upper_end(counts.false_passes, pairs);
  const double power = counts.share(counts.fails_at_twice);
  const double oracle = oracle_power(model, steps);
  const bool needs_power = model.needs_power_from > 0 && steps >= model.needs_power_from;
  const bool fits =
      fail_end <= most_wrong && pass_end <= most_wrong && (!needs_power || power >= 0.9 * oracle);
  std::printf("%-58s %5d  %5.2f (%5.2f)  %5.2f (%5.2f)  %5.1f  %5.1f / %5.1f%s  %5.1f%s\n",
              model.name.c_str(),
              steps,
              100 * counts.share(counts.false_fails),
              100 * fail_end,
              100 * counts.share(counts.false_passes),
              100 * pass_end,
              100 * counts.share(counts.passes),
              100 * power,
              100 * oracle,
              needs_power ? " *" : "  ",
              100 * counts.share(counts.undecided_at_twice),
              fits ? "" : "  BEYOND");
  std::fflush(stdout);
  return fits;
}

}  // namespace

int main(int count, char** words) {
  const int pairs = count > 1 ? std::atoi(words[1]) : 4000;
  const std::string wanted = count > 2 ? words[2] : "";
  if (pairs < 1) return 2;
  std::printf("%d simulated pairs of runs a row; %%, in brackets the upper end at 95 %%\n", pairs);
  std::printf("*: at least 0.9 of the oracle's power is demanded\n\n");
  std::printf("%-58s %5s  %-13s  %-13s  %-5s  %-15s  %s\n",
              "step times",
              "n",
              "FAIL at 1",
              "PASS at 1.05",
              "PASS",
              "FAIL at 1.10 /",
              "INCON-");
  std::printf("%-58s %5s  %-13s  %-13s  %-5s  %-15s  %s\n",
              "",
              "",
              "",
              "",
              "at 1",
              "oracle's",
              "CLUSIVE at 1.10");
  const auto begin = std::chrono::steady_clock::now();
  bool good = true;
  for (const SpeedModel& model : models()) {
    if (model.name.find(wanted) == std::string::npos) continue;
    for (const int steps : {20, 128, 200, 2000})
      good = print_row(model, steps, pairs) && good;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%s, %.0f s\n", good ? "all within" : "some beyond", taken.count());
  return good ? 0 : 1;
}

// How often the verdicts on pairs of groups are right, of simulated runs, and how fast they come.
//   verdict_bench [PAIRS]
#include <sabath/compare/group_verdict.hpp>
#include <sabath/compare/statistical_power.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace sabath::compare;
using sabath::spec::Verdict;

constexpr std::array sizes{3, 5, 10, 20};
constexpr std::array margins{1.0, 1.5, 2.0, 3.0};
constexpr double alpha = 0.05;

struct Count {
  int passes = 0;        ///< at no true difference
  int wrong_passes = 0;  ///< at a true difference of one margin
  int turned = 0;        ///< another verdict when the sides are exchanged
};

Moments shifted(Moments group, double by) {
  group.mean += by;
  return group;
}

Verdict verdict_of(const Moments& a, const Moments& b, double margin) {
  return judge_groups(a, b, margin, alpha, false).verdict;
}

std::array<Count, margins.size()> simulate(int runs, int pairs, std::mt19937_64& random) {
  std::array<Count, margins.size()> counts{};
  std::normal_distribution<double> normal;
  const auto group = [&] {
    std::vector<double> values(static_cast<std::size_t>(runs));
    for (double& value : values)
      value = normal(random);
    return moments(values);
  };
  for (int i = 0; i < pairs; ++i) {
    const Moments a = group();
    const Moments b = group();
    for (std::size_t m = 0; m < margins.size(); ++m) {
      const Moments far = shifted(b, margins[m]);
      const Verdict near_verdict = verdict_of(a, b, margins[m]);
      const Verdict far_verdict = verdict_of(a, far, margins[m]);
      counts[m].passes += near_verdict == Verdict::pass ? 1 : 0;
      counts[m].wrong_passes += far_verdict == Verdict::pass ? 1 : 0;
      const bool same = verdict_of(b, a, margins[m]) == near_verdict &&
                        verdict_of(far, a, margins[m]) == far_verdict;
      counts[m].turned += same ? 0 : 1;
    }
  }
  return counts;
}

}  // namespace

int main(int count, char** words) {
  const int pairs = count > 1 ? std::atoi(words[1]) : 10'000;
  if (pairs < 1) return 2;
  const double most_wrong = alpha + 3 * std::sqrt(alpha * (1 - alpha) / pairs);
  std::mt19937_64 random(1);
  bool good = true;
  std::printf("%d simulated pairs of groups at each size; margins in standard deviations\n", pairs);
  std::printf("  n  margin  power  expected  false PASS (most %.4f)  turned\n", most_wrong);
  const auto begin = std::chrono::steady_clock::now();
  for (const int runs : sizes) {
    const auto counts = simulate(runs, pairs, random);
    for (std::size_t m = 0; m < margins.size(); ++m) {
      const double power = static_cast<double>(counts[m].passes) / pairs;
      const double wrong = static_cast<double>(counts[m].wrong_passes) / pairs;
      const double expected = equivalence_power(runs, margins[m], alpha);
      const bool fits =
          std::abs(power - expected) <= 0.02 && wrong <= most_wrong && counts[m].turned == 0;
      good = good && fits;
      std::printf("%3d  %6.1f  %.3f     %.3f  %.4f                   %6d%s\n",
                  runs,
                  margins[m],
                  power,
                  expected,
                  wrong,
                  counts[m].turned,
                  fits ? "" : "  BEYOND");
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%s, %.2f s\n", good ? "all within" : "some beyond", taken.count());
  return 0;
}

#include "vectors.hpp"

#include <sabath/compare/group_verdict.hpp>
#include <sabath/compare/statistical_power.hpp>

#include <array>

using namespace sabath::compare;
using sabath::spec::Verdict;

namespace {

constexpr int pairs = 10'000;
constexpr std::array margins{1.0, 1.5, 2.0, 3.0};

Moments shifted(Moments group, double by) {
  group.mean += by;
  return group;
}

Verdict verdict_of(const Moments& a, const Moments& b, double margin) {
  return judge_groups(a, b, margin, 0.05, false).verdict;
}

}  // namespace

TEST_CASE("verdicts: 10,000 simulated pairs at each size pass as often as they should",
          "[simulation]") {
  sabath::test::NormalValues normal(1);
  for (const int runs : {3, 5, 10, 20}) {
    std::array<int, margins.size()> power{};
    std::array<int, margins.size()> wrong{};
    for (int i = 0; i < pairs; ++i) {
      const Moments a = moments(normal(static_cast<std::size_t>(runs), 0, 1));
      const Moments b = moments(normal(static_cast<std::size_t>(runs), 0, 1));
      for (std::size_t m = 0; m < margins.size(); ++m) {
        power[m] += verdict_of(a, b, margins[m]) == Verdict::pass ? 1 : 0;
        const Moments far = shifted(b, margins[m]);
        const Verdict verdict = verdict_of(a, far, margins[m]);
        wrong[m] += verdict == Verdict::pass ? 1 : 0;
        if (i % 50 == 0) CHECK(verdict_of(far, a, margins[m]) == verdict);
      }
    }
    for (std::size_t m = 0; m < margins.size(); ++m) {
      INFO(runs << " runs a side, margin " << margins[m]);
      const double share = static_cast<double>(power[m]) / pairs;
      CHECK(share == Approx(equivalence_power(runs, margins[m])).margin(0.02));
      // A true difference of one margin passes in 5 %, and three standard errors more.
      CHECK(static_cast<double>(wrong[m]) / pairs <= 0.05 + 3 * std::sqrt(0.05 * 0.95 / pairs));
    }
  }
}

// How often chance alone makes `compare --better` say PASS, and `rank` put a group behind.
#include "vectors.hpp"

#include <sabath/compare/ranking.hpp>

#include <boost/math/distributions/binomial.hpp>

#include <array>
#include <functional>

using namespace sabath::compare;
using sabath::spec::Better;
using sabath::spec::Standing;
using sabath::spec::Verdict;

namespace {

constexpr int pairs = 10'000;
constexpr std::array<std::size_t, 3> sizes{3, 5, 10};

/// The greatest rate that is likely, at 95 %, where `count` of `all` were seen.
double likely_rate(int count, int all) {
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(all, count, 0.05);
}

/// A value of a run, with mean 0.
using Values = std::function<double()>;

/// Normal, and Student's t with two degrees of freedom: without a variance.
std::vector<std::pair<std::string, Values>> distributions(sabath::test::NormalValues& normal) {
  const auto one = [&normal] { return normal(1, 0, 1).front(); };
  const auto heavy = [one] {
    const double chi = std::pow(one(), 2) + std::pow(one(), 2);
    return one() / std::sqrt(chi / 2);
  };
  return {{"normal", one}, {"heavy tails", heavy}};
}

struct Sides {
  SampleMeans a{};
  SampleMeans b{};
};

/// Paired values have a part of their seed in common, twice as large as their own.
Sides sides_of(const Values& value, std::size_t runs, bool paired) {
  Sides sides;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const double of_seed = paired ? 2 * value() : 0;
    sides.a[i] = of_seed + value();
    sides.b[paired ? i : i + 100] = of_seed + value();
  }
  return sides;
}

}  // namespace

TEST_CASE("better: chance alone passes in at most 6 % of 10,000 pairs", "[simulation]") {
  sabath::test::NormalValues normal(20);
  for (const auto& [name, value] : distributions(normal)) {
    for (const std::size_t runs : sizes) {
      for (const bool paired : {false, true}) {
        int passed = 0;
        int failed = 0;
        for (int i = 0; i < pairs; ++i) {
          const Sides sides = sides_of(value, runs, paired);
          const auto found = judge_better(sides.a, sides.b, Better::lower, 0.05, false);
          CHECK(found.paired == paired);
          passed += found.verdict == Verdict::pass ? 1 : 0;
          failed += found.verdict == Verdict::fail ? 1 : 0;
        }
        INFO(name << ", " << runs << (paired ? " pairs" : " runs a side") << ": " << passed
                  << " passed, " << failed << " failed");
        CHECK(likely_rate(passed, pairs) <= 0.06);
        CHECK(likely_rate(failed, pairs) <= 0.06);
        // The test is not blunt: of normal values it uses its five per cent, but for three runs.
        if (name == "normal" && (paired || runs > 3)) CHECK(passed > pairs * 4 / 100);
      }
    }
  }
}

TEST_CASE("better: a true difference is found, and by pairs with fewer runs", "[simulation]") {
  sabath::test::NormalValues normal(21);
  const Values value = distributions(normal).front().second;
  int by_pairs = 0;
  int by_groups = 0;
  constexpr int trials = 2000;
  for (int i = 0; i < trials; ++i) {
    Sides sides = sides_of(value, 5, true);
    for (auto& [seed, one] : sides.b)
      one -= 3;
    by_pairs += judge_better(sides.a, sides.b, Better::lower, 0.05, false).verdict == Verdict::pass;
    SampleMeans elsewhere;
    for (const auto& [seed, one] : sides.b)
      elsewhere[seed + 100] = one;
    by_groups +=
        judge_better(sides.a, elsewhere, Better::lower, 0.05, false).verdict == Verdict::pass;
  }
  CHECK(by_pairs > trials * 85 / 100);
  CHECK(by_groups < by_pairs);
}

TEST_CASE("ranking: equal settings are rarely behind, and mostly tied within a wide margin",
          "[simulation]") {
  sabath::test::NormalValues normal(22);
  constexpr int rankings = 2000;
  for (const auto& [name, value] : distributions(normal)) {
    for (const std::size_t runs : sizes) {
      int wrong = 0;
      int tied = 0;
      for (int i = 0; i < rankings; ++i) {
        std::vector<GroupToRank> groups(5);
        for (GroupToRank& group : groups) {
          for (std::uint32_t seed = 0; seed < runs; ++seed)
            group.values[seed] = value();
        }
        const auto ranking = rank_groups(groups, {{"lr"}, Better::lower, 4.0, 0.05, false});
        wrong += std::ranges::any_of(
            ranking.groups, [](const auto& group) { return group.standing == Standing::behind; });
        tied += ranking.result == "tied" ? 1 : 0;
      }
      INFO(name << ", " << runs << " seeds: " << wrong << " behind, " << tied << " tied");
      CHECK(likely_rate(wrong, rankings) <= 0.065);
      if (name == "normal" && runs == 10) CHECK(tied >= rankings * 90 / 100);
    }
  }
}

TEST_CASE("better: the number of pairs that would decide decides in four of five", "[simulation]") {
  sabath::test::NormalValues normal(23);
  constexpr int trials = 4000;
  for (const double difference : {0.8, 2.0}) {
    const auto runs = runs_to_decide({difference, 0, 1, 0, 1}, 0.1);
    REQUIRE(runs.has_value());
    int decided = 0;
    for (int i = 0; i < trials; ++i) {
      Sides sides;
      for (std::uint32_t seed = 0; seed < *runs; ++seed) {
        sides.a[seed] = normal(1, 0, 3).front();
        sides.b[seed] = sides.a[seed] + normal(1, difference, 1).front();
      }
      decided +=
          judge_better(sides.a, sides.b, Better::lower, 0.05, false).verdict == Verdict::fail;
    }
    INFO(*runs << " pairs, a difference of " << difference << ": " << decided);
    CHECK(decided >= trials * 78 / 100);
    CHECK(decided <= trials * 92 / 100);
  }
}

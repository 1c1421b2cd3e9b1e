#include "vectors.hpp"

#include <sabath/compare/ranking.hpp>

using namespace sabath::compare;
using Catch::Contains;
using sabath::spec::Better;
using sabath::spec::Ranking;
using sabath::spec::Standing;
using sabath::spec::Verdict;

namespace {

/// Seeds from `first` on.
SampleMeans seeds(const std::vector<double>& values, std::uint32_t first = 1) {
  SampleMeans samples;
  for (const double value : values)
    samples[first++] = value;
  return samples;
}

Ranking ranked(const std::vector<SampleMeans>& values,
               std::optional<double> margin = {},
               Better better = Better::lower) {
  std::vector<GroupToRank> groups;
  for (std::size_t i = 0; i < values.size(); ++i)
    groups.push_back({{std::string(1, static_cast<char>('a' + static_cast<int>(i)))},
                      values[i].size(),
                      values[i]});
  return rank_groups(groups, {{"lr"}, better, margin});
}

std::string order_of(const Ranking& ranking) {
  std::string order;
  for (const auto& group : ranking.groups)
    order += group.levels.front() + std::to_string(group.place);
  return order;
}

}  // namespace

TEST_CASE("ranking: the same seeds are pairs, other seeds are two groups") {
  const SampleMeans a = seeds({1, 2, 4});
  const MeanDifference paired = difference_of(a, seeds({2, 3.5, 5}));
  CHECK(paired.pairs == 3);
  CHECK(paired.difference == sabath::test::close_to(3.5 / 3));
  const double p = 1 - 7 / std::sqrt(51.0);  // of t = 7 with two degrees of freedom
  CHECK(paired.test->t == sabath::test::close_to(7));
  CHECK(paired.test->freedom == 2);
  CHECK(paired.test->p == sabath::test::close_to(p));
  CHECK(paired.p_greater() == sabath::test::close_to(p / 2));
  const MeanDifference apart = difference_of(a, seeds({2, 3.5, 5}, 11));
  CHECK(apart.pairs == 0);
  CHECK(apart.test->freedom < 4);
  CHECK(apart.p_greater() > 0.1);
  // Half of the seeds in common are not enough, more are.
  CHECK(difference_of(seeds({1, 2, 4, 3}), seeds({1, 5, 4, 7}, 3)).pairs == 0);
  const MeanDifference some = difference_of(seeds({1, 2, 4}), seeds({3, 5.5, 9}, 2));
  CHECK(some.pairs == 2);
  CHECK(some.difference == 1.25);  // of the seeds 2 and 3
}

TEST_CASE("ranking: pairs that differ by one number are tested without a spread") {
  const auto shifted = [](std::size_t count) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < count; ++i) {
      a.push_back(10 * static_cast<double>(i));
      b.push_back(a.back() + 0.25);
    }
    return difference_of(seeds(a), seeds(b));
  };
  CHECK(shifted(5).pairs == 5);
  CHECK(shifted(5).p_greater() == 1.0 / 32);
  CHECK(shifted(5).p_less() == 1);
  CHECK(shifted(4).pairs == 0);  // by the spread of the groups
  CHECK(shifted(4).test.has_value());
  const MeanDifference constant = difference_of(seeds({1, 1, 1}), seeds({2, 2, 2}, 11));
  CHECK_FALSE(constant.test.has_value());
  CHECK(constant.p_greater() == sabath::test::close_to(1.0 / 20));
}

TEST_CASE("ranking: a further seed makes no separated groups undecided") {
  std::vector<double> a;
  std::vector<double> b;
  for (int seed = 1; seed <= 12; ++seed) {
    a.push_back(1 + 0.1 * seed);
    b.push_back(2 + 0.1 * seed);
    if (seed < 3) continue;
    const Ranking ranking = ranked({seeds(a), seeds(b)});
    INFO(seed << " seeds: " << ranking.groups[1].reason);
    CHECK(ranking.groups[1].standing == Standing::behind);
  }
}

TEST_CASE("ranking: of pairs that all differ by the same it is said how many would decide") {
  const Ranking few = ranked({seeds({1, 20, 300}), seeds({1.25, 20.25, 300.25})}, 0.5);
  CHECK(few.groups[1].standing == Standing::undecided);
  CHECK_THAT(few.groups[1].reason,
             Contains("all 3 common seeds differ by 0.25, and 5 of them would decide"));
  const Ranking enough =
      ranked({seeds({1, 20, 300, 7, 9}), seeds({1.25, 20.25, 300.25, 7.25, 9.25})}, 0.5);
  CHECK(enough.groups[1].standing == Standing::tied);
  const auto equal = judge_better(seeds({1, 2, 3}), seeds({1, 2, 3}), Better::lower);
  CHECK_THAT(equal.reason, Contains("each seed has one value on both sides"));
}

TEST_CASE("ranking: groups are in the order of their means, and tied within the margin") {
  const std::vector<SampleMeans> values{seeds({0.91, 0.92, 0.93, 0.92}),
                                        seeds({0.13, 0.12, 0.11, 0.12}),
                                        seeds({0.12, 0.11, 0.12, 0.11})};
  const Ranking lower = ranked(values, 0.05);
  CHECK(order_of(lower) == "c1b1a3");
  CHECK(lower.result == "tied");
  CHECK_THAT(lower.reason, Contains("lr c is tied with lr b"));
  CHECK(lower.groups[0].standing == Standing::best);
  CHECK_FALSE(lower.groups[0].difference.has_value());
  CHECK(lower.groups[1].standing == Standing::tied);
  CHECK(lower.groups[1].pairs == 4);
  CHECK(*lower.groups[1].tost_p < 0.05);
  CHECK(lower.groups[2].standing == Standing::behind);
  CHECK(*lower.groups[2].p_adjusted >= *lower.groups[2].p);
  const Ranking higher = ranked(values, 0.05, Better::higher);
  CHECK(order_of(higher) == "a1b2c3");
  CHECK(higher.result == "ranked");
  CHECK(*higher.groups[1].difference < 0);
  // Student's interval of the mean.
  CHECK(higher.groups[0].mean == sabath::test::close_to(0.92));
  CHECK(*higher.groups[0].high - *higher.groups[0].low ==
        sabath::test::close_to(2 * 3.182446305284 * 0.00816496580927726 / 2, 1e-9));
}

TEST_CASE("ranking: what cannot be decided says how many runs would") {
  const Ranking ranking = ranked({seeds({1, 2, 3}), seeds({1.5, 2.2, 3.9})}, 0.1);
  CHECK(ranking.result == "undecided");
  CHECK(order_of(ranking) == "a1b2");
  CHECK(ranking.groups[1].standing == Standing::undecided);
  CHECK(*ranking.groups[1].runs_needed > 3);
  CHECK_THAT(ranking.groups[1].reason, Contains("seeds a group would decide"));
  // Without a margin nothing is equal.
  const Ranking open = ranked({seeds({1, 2, 3}), seeds({1, 2, 3.001})});
  CHECK(open.groups[1].standing == Standing::undecided);
  const Ranking single = ranked({seeds({1}), seeds({2})}, 0.1);
  CHECK(single.result == "undecided");
  CHECK_FALSE(single.groups[0].low.has_value());
  CHECK_THAT(single.groups[1].reason, Contains("one seed shows no spread"));
}

TEST_CASE("ranking: a setting without any effect is tied, without a margin too") {
  const std::vector<double> values{1, 5, 2, 9, 4, 7};
  for (const std::size_t runs : {2U, 4U, 6U}) {
    const std::vector<double> own(values.begin(), values.begin() + static_cast<int>(runs));
    const Ranking ranking = ranked({seeds(own), seeds(own)});
    CHECK(ranking.result == "tied");
    CHECK_THAT(ranking.groups[1].reason, Contains("the same value for each seed"));
  }
  CHECK(ranked({seeds({1}), seeds({1})}).result == "undecided");
}

TEST_CASE("ranking: groups of one value each, one group, and none") {
  const Ranking ranking =
      ranked({seeds({1, 1}), seeds({1, 1}), seeds({2, 2}), seeds({1.01, 1.01})}, 0.1);
  CHECK(order_of(ranking) == "a1b1d1c4");
  CHECK(ranking.groups[3].standing == Standing::behind);
  const Ranking alone = ranked({seeds({1, 2})});
  CHECK(alone.result == "ranked");
  CHECK_THAT(alone.reason, Contains("only group that qualifies"));
  CHECK(ranked({}).result == "none");
}

TEST_CASE("ranking: many groups take Bonferroni's bound") {
  std::vector<SampleMeans> values;
  for (int i = 0; i < 250; ++i)
    values.push_back(seeds({100.0 * i, 100.0 * i + 1, 100.0 * i + 2.5}));
  values[7] = seeds({0.5, 1, 3});
  const Ranking ranking = ranked(values);
  CHECK(ranking.groups.size() == 250);
  CHECK(ranking.groups[1].standing == Standing::undecided);
  CHECK(ranking.groups[200].p_adjusted.has_value());
}

TEST_CASE("better: B passes, fails, or is left open with the runs that would decide") {
  const SampleMeans a = seeds({0.30, 0.34, 0.31, 0.35, 0.32});
  const SampleMeans b = seeds({0.27, 0.30, 0.29, 0.31, 0.28});
  const auto better = judge_better(a, b, Better::lower);
  CHECK(better.verdict == Verdict::pass);
  CHECK(better.paired);
  CHECK(better.pairs == 5);
  CHECK(*better.high < 0);
  CHECK_THAT(better.reason, Contains("B is better") && Contains("lower") && Contains("5 pairs"));
  const auto worse = judge_better(a, b, Better::higher);
  CHECK(worse.verdict == Verdict::fail);
  CHECK(*worse.p_worse == *better.p_better);
  CHECK(judge_better(b, a, Better::lower).verdict == Verdict::fail);
  const auto open = judge_better(seeds({1, 2, 3}), seeds({1.2, 1.9, 2.4}, 11), Better::lower);
  CHECK(open.verdict == Verdict::inconclusive);
  CHECK_FALSE(open.paired);
  CHECK(*open.runs_needed > 3);
  CHECK_THAT(open.reason, Contains("may be chance") && Contains("seeds a side would decide"));
}

TEST_CASE("better: one run a side, equal sides, and a side without values are open") {
  const auto single = judge_better(seeds({1}), seeds({2}), Better::lower);
  CHECK(single.verdict == Verdict::inconclusive);
  CHECK_THAT(single.reason, Contains("one seed shows no spread (n = 1 and 1)"));
  CHECK(judge_better(seeds({1}), seeds({2, 3, 4}), Better::lower).verdict == Verdict::inconclusive);
  CHECK(judge_better(seeds({}), seeds({2, 3}), Better::lower).verdict == Verdict::inconclusive);
  const auto same = judge_better(seeds({1, 2, 3}), seeds({1, 2, 3}), Better::lower);
  CHECK(same.verdict == Verdict::inconclusive);
  CHECK_THAT(same.reason, Contains("are equal"));
  // Three runs of one value each could be chance, as values of a coarse metric are.
  const auto coarse = judge_better(seeds({3, 3, 3}), seeds({2, 2, 2}, 11), Better::lower);
  CHECK(coarse.verdict == Verdict::inconclusive);
  CHECK_THAT(coarse.reason, Contains("without any spread") && Contains("more seeds"));
  const SampleMeans four = seeds({3, 3, 3, 3});
  CHECK(judge_better(four, seeds({2, 2, 2, 2}, 11), Better::lower).verdict == Verdict::pass);
  const auto huge = judge_better(seeds({-1e308, 1e308}), seeds({-1e308, 1e308}, 11), Better::lower);
  CHECK(huge.verdict == Verdict::inconclusive);
}

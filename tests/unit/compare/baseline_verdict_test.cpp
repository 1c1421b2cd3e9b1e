#include <sabath/compare/baseline_verdict.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace sabath;
using Catch::Contains;
using compare::BaselineTerms;
using compare::BaselineVerdict;
using compare::JudgedMetric;
using spec::Verdict;
using Values = std::vector<double>;
using Seeds = std::vector<std::optional<std::uint64_t>>;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
const Values ten{0.30, 0.31, 0.29, 0.305, 0.295, 0.312, 0.288, 0.301, 0.299, 0.3};

spec::BaselineMetric reference(const Values& values) {
  spec::BaselineMetric metric;
  metric.name = "train/loss";
  metric.better = spec::Better::lower;
  metric.values = values;
  compare::summarise(metric);
  return metric;
}

Seeds seeds_from(std::uint64_t first, std::size_t count) {
  Seeds seeds;
  for (std::size_t i = 0; i < count; ++i)
    seeds.emplace_back(first + i);
  return seeds;
}

JudgedMetric judged(const Values& values, const Seeds& seeds) {
  JudgedMetric metric;
  metric.seeds = seeds;
  for (const double value : values) {
    metric.values.emplace_back(value);
    metric.runs.push_back("run-" + std::to_string(metric.runs.size() + 1));
  }
  return metric;
}

BaselineTerms terms(const Seeds& seeds) {
  BaselineTerms result;
  result.seeds = seeds;
  return result;
}

/// Of one run, or of several, each with a seed of its own, against references that have too.
BaselineVerdict judge(const Values& references, const Values& values) {
  return compare::judge_result(reference(references),
                               judged(values, seeds_from(100, values.size())),
                               terms(seeds_from(1, references.size())));
}

}  // namespace

TEST_CASE("baseline: one run lies in the prediction interval of the references, or fails") {
  // R: mean(x) + c(-1, 1) * qt(0.995, 9) * sd(x) * sqrt(1.1) = 0.2735982 .. 0.3264018
  CHECK(judge(ten, {0.3264}).verdict == Verdict::pass);
  CHECK(judge(ten, {0.2736}).verdict == Verdict::pass);
  const BaselineVerdict beyond = judge(ten, {0.3265});
  CHECK(beyond.verdict == Verdict::fail);
  CHECK(beyond.test == "prediction interval");
  CHECK_THAT(beyond.reason, Contains("lies outside") && Contains("n = 10"));
  CHECK(judge({0.3, 0.31, 0.29, 0.305}, {0.3}).verdict == Verdict::inconclusive);
}

TEST_CASE("baseline: a reference that lies apart makes no room for others") {
  Values with_outlier = ten;
  with_outlier.back() = 3;
  const spec::BaselineMetric metric = reference(with_outlier);
  CHECK(compare::outliers(with_outlier) == std::vector<std::size_t>{9});
  REQUIRE(metric.bounds);
  CHECK(metric.bounds->high < 0.4);
  const BaselineVerdict verdict = judge(with_outlier, {0.9});
  CHECK(verdict.verdict == Verdict::inconclusive);
  CHECK_THAT(verdict.reason, Contains("robust bounds"));
  CHECK(judge(with_outlier, {0.3}).verdict == Verdict::pass);
}

TEST_CASE("baseline: bounds of a person decide alone") {
  spec::BaselineMetric metric = reference(ten);
  metric.bounds = spec::Bounds{0.0, 0.31, spec::reviewed};
  const auto seeds = seeds_from(1, 10);
  CHECK(compare::judge_result(metric, judged({0.1}, {7}), terms(seeds)).verdict == Verdict::pass);
  const BaselineVerdict beyond =
      compare::judge_result(metric, judged({0.30, 0.311}, seeds_from(1, 2)), terms(seeds));
  CHECK(beyond.verdict == Verdict::fail);
  CHECK_THAT(beyond.reason, Contains("run-2 has 0.311"));
  CHECK(compare::inconsistency(metric).empty());
}

TEST_CASE("baseline: groups are held against the margin") {
  BaselineTerms with_margin = terms(seeds_from(1, 10));
  with_margin.margin = 0.02;
  const JudgedMetric same = judged({0.301, 0.298, 0.303, 0.297, 0.302}, seeds_from(50, 5));
  CHECK(compare::judge_result(reference(ten), same, with_margin).verdict == Verdict::pass);
  const JudgedMetric other = judged({0.351, 0.348, 0.353, 0.347, 0.352}, seeds_from(50, 5));
  const BaselineVerdict differs = compare::judge_result(reference(ten), other, with_margin);
  CHECK(differs.verdict == Verdict::fail);
  CHECK_THAT(differs.reason, Contains("mean 0.3502") && Contains("of the baseline 0.3"));
  // Few runs decide nothing: how many would is said.
  with_margin.margin = 0.004;
  const JudgedMetric few = judged({0.301, 0.298}, seeds_from(50, 2));
  const BaselineVerdict undecided = compare::judge_result(reference(ten), few, with_margin);
  CHECK(undecided.verdict == Verdict::inconclusive);
  CHECK(undecided.runs_needed);
  with_margin.margin = 0;
  CHECK(compare::judge_result(reference(ten), same, with_margin).verdict == Verdict::inconclusive);
}

TEST_CASE("baseline: its own margin counts from ten runs on, and none is no PASS") {
  const JudgedMetric same = judged({0.301, 0.298, 0.303, 0.297, 0.302}, seeds_from(50, 5));
  spec::BaselineMetric metric = reference(ten);
  CHECK(compare::judge_result(metric, same, terms(seeds_from(1, 10))).verdict ==
        Verdict::inconclusive);
  metric.margin = 0.02;
  CHECK(compare::judge_result(metric, same, terms(seeds_from(1, 10))).verdict == Verdict::pass);
  spec::BaselineMetric short_one = reference({ten.begin(), ten.begin() + 9});
  short_one.margin = 0.02;
  const BaselineVerdict verdict = compare::judge_result(short_one, same, terms(seeds_from(1, 9)));
  CHECK(verdict.verdict == Verdict::inconclusive);
  CHECK_THAT(verdict.reason, Contains("from 10 runs on"));
}

TEST_CASE("baseline: runs of one seed are one sample of what seeds do") {
  // Five times the same number is no group of five.
  const BaselineVerdict one = compare::judge_result(
      reference(ten), judged(Values(5, 0.31), Seeds(5, 7)), terms(seeds_from(1, 10)));
  CHECK(one.verdict == Verdict::pass);
  CHECK(one.test == "prediction interval");
  CHECK_THAT(one.reason, Contains("1 of 5 runs"));
  // Ten runs of two seeds are too few for an interval.
  Seeds two(10, 1);
  std::fill(two.begin() + 5, two.end(), 2);
  const BaselineVerdict few = compare::judge_result(reference(ten), judged({0.3}, {3}), terms(two));
  CHECK(few.verdict == Verdict::inconclusive);
  CHECK_THAT(few.reason, Contains("there are 2"));
}

TEST_CASE("baseline: of one seed it holds for that one alone, rung by rung") {
  const double value = 0.3;
  const double next = std::nextafter(value, 1);
  BaselineTerms one = terms(Seeds(3, 1));
  const spec::BaselineMetric metric = reference(Values(3, value));
  const auto verdict_of = [&](double of_run, std::uint64_t seed) {
    return compare::judge_result(metric, judged({of_run}, {seed}), one);
  };
  CHECK(verdict_of(value, 1).reason == "equal to the bit (default: tolerance)");
  CHECK(verdict_of(next, 1).verdict == Verdict::pass);
  CHECK(verdict_of(0.300001, 1).verdict == Verdict::fail);
  CHECK(verdict_of(value, 2).verdict == Verdict::not_comparable);
  CHECK_THAT(verdict_of(value, 2).reason, Contains("seed 1, run-1 has 2"));
  one.tolerance.relative = 1e-3;
  CHECK(verdict_of(0.300001, 1).verdict == Verdict::pass);
  one.recipe = spec::Rung::bitwise;
  CHECK(verdict_of(next, 1).verdict == Verdict::fail);
  one.asked = spec::Rung::ulp;
  CHECK(verdict_of(next, 1).verdict == Verdict::pass);
}

TEST_CASE("baseline: repeats of one seed of a code that is not deterministic are a sample") {
  BaselineTerms one = terms(Seeds(10, 1));
  const auto verdict = compare::judge_result(reference(ten), judged({0.31}, {1}), one);
  CHECK(verdict.test == "prediction interval");
  CHECK(verdict.verdict == Verdict::pass);
  one.deterministic = true;  // then they must agree, and so must this one with each of them
  CHECK(compare::judge_result(reference(ten), judged({0.31}, {1}), one).verdict == Verdict::fail);
}

TEST_CASE("baseline: --require goes by the runs of the same seed") {
  BaselineTerms asked = terms(seeds_from(1, 10));
  asked.asked = spec::Rung::bitwise;
  const spec::BaselineMetric metric = reference(ten);
  CHECK(compare::judge_result(metric, judged({0.29}, {3}), asked).verdict == Verdict::pass);
  CHECK(compare::judge_result(metric, judged({0.29}, {4}), asked).verdict == Verdict::fail);
  const BaselineVerdict unknown = compare::judge_result(metric, judged({0.29}, {99}), asked);
  CHECK(unknown.verdict == Verdict::inconclusive);
  CHECK_THAT(unknown.reason, Contains("no run of seed 99"));
}

TEST_CASE("baseline: values that are not finite, and runs without one") {
  CHECK(judge(ten, {no_number}).verdict == Verdict::fail);
  CHECK(judge(ten, {std::numeric_limits<double>::infinity()}).verdict == Verdict::fail);
  CHECK(judge(Values(10, no_number), {no_number}).verdict == Verdict::inconclusive);
  JudgedMetric missing = judged({0.3, 0.3}, {1, 2});
  missing.values[1].reset();
  const BaselineVerdict partly =
      compare::judge_result(reference(ten), missing, terms(seeds_from(1, 10)));
  CHECK(partly.verdict == Verdict::inconclusive);
  CHECK_THAT(partly.reason, Contains("1 of 2 runs have no value"));
  missing.values[0] = 9;
  CHECK(compare::judge_result(reference(ten), missing, terms(seeds_from(1, 10))).verdict ==
        Verdict::fail);
  missing.values[0].reset();
  CHECK(compare::judge_result(reference(ten), missing, terms(seeds_from(1, 10))).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("baseline: one value that all references have is held by tolerance, whatever the seed") {
  CHECK(judge(Values(5, 0.91), {0.91}).verdict == Verdict::pass);
  CHECK(judge(Values(5, 0.91), {0.92}).verdict == Verdict::fail);
  CHECK(judge(Values(5, 0.91), Values(4, 0.91)).verdict == Verdict::pass);
}

TEST_CASE("baseline: a single run that is slower fails, a faster one does not") {
  spec::BaselineMetric times = reference({1.00, 1.01, 0.99, 1.005, 0.995});
  times.performance = true;
  times.unit = "s";
  const auto verdict_of = [&](const Values& values, double margin) {
    BaselineTerms how = terms(seeds_from(1, 5));
    how.speed_margin = margin;
    return compare::judge_performance(times, judged(values, seeds_from(1, values.size())), how);
  };
  CHECK(verdict_of({1.2}, 0.05).verdict == Verdict::fail);
  CHECK_THAT(verdict_of({1.2}, 0.05).reason,
             Contains("median 1.2 s (n = 1), of the baseline 1 s (n = "));
  CHECK(verdict_of({1.0}, 0.05).verdict == Verdict::pass);
  CHECK(verdict_of({0.5}, 0.05).verdict == Verdict::pass);
  CHECK(verdict_of({1.06}, 0.05).verdict == Verdict::inconclusive);
  CHECK(verdict_of({1.06}, 0.25).verdict == Verdict::pass);
  CHECK(verdict_of({-1}, 0.05).verdict == Verdict::inconclusive);
  CHECK(verdict_of({no_number}, 0.05).verdict == Verdict::inconclusive);
  CHECK(verdict_of({1.2, 1.21, 1.19, 1.2, 1.22}, 0.05).verdict == Verdict::fail);
  times.better = spec::Better::higher;
  CHECK(verdict_of({1.2}, 0.05).verdict == Verdict::pass);
  CHECK(verdict_of({0.5}, 0.05).verdict == Verdict::fail);
  times.better = spec::Better::none;
  CHECK(verdict_of({0.5}, 0.05).verdict == Verdict::inconclusive);
}

TEST_CASE("baseline: runs on a machine that was not quiet are counted") {
  spec::BaselineMetric times = reference({1.00, 1.01, 0.99, 1.005, 0.995});
  times.performance = true;
  compare::JudgedMetric runs = judged({1.2, 1.21}, {1, 2});
  const auto reason = [&] { return compare::judge_performance(times, runs, terms({1})).reason; };
  CHECK_THAT(reason(), !Contains("not quiet"));
  runs.disturbed_runs = 1;
  CHECK_THAT(reason(), Contains("; 1 of 2 runs began on a machine that was not quiet"));
}

TEST_CASE("baseline: one against one has no interval") {
  spec::BaselineMetric time = reference({1.0});
  CHECK(compare::judge_performance(time, judged({1.0}, {1}), terms({1})).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("baseline: bounds count runs of one seed once") {
  spec::BaselineMetric metric = reference({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.2, 0.4, 0.5});
  const spec::Bounds of_runs = *metric.bounds;
  const Seeds seeds{1, 1, 1, 1, 1, 1, 2, 3, 4, 5};
  compare::summarise(metric, seeds);
  CHECK(metric.bounds->rule != of_runs.rule);
  CHECK((metric.bounds->low + metric.bounds->high) / 2 == Approx(0.3));
  CHECK((of_runs.low + of_runs.high) / 2 == Approx(0.1));
  CHECK(metric.n == 10);
  CHECK(compare::inconsistency(metric, seeds).empty());
  metric.bounds = of_runs;  // of an earlier version
  CHECK(compare::inconsistency(metric, seeds).empty());
  metric.bounds->high += 1;
  CHECK_THAT(compare::inconsistency(metric, seeds), Contains("'bounds/high'"));
}

TEST_CASE("baseline: what is said of values must follow from them") {
  spec::BaselineMetric metric = reference(ten);
  CHECK(compare::inconsistency(metric).empty());
  metric.mean += 1e-15;  // another compiler's rounding
  CHECK(compare::inconsistency(metric).empty());
  metric.mean += 0.01;
  CHECK_THAT(compare::inconsistency(metric), Contains("'mean' is 0.31"));
  metric = reference(ten);
  metric.bounds->high += 1;
  CHECK_THAT(compare::inconsistency(metric), Contains("'bounds/high'"));
  metric.bounds->rule = spec::reviewed;
  CHECK(compare::inconsistency(metric).empty());
  CHECK(compare::inconsistency(reference({no_number, no_number, no_number, no_number, no_number}))
            .empty());
  CHECK(compare::inconsistency(reference({})).empty());
}

TEST_CASE("baseline: a good run is rarely refused") {
  // At alpha = 0.01; and the robust bounds of 5 references stop 1.6 % more (0.2 % of 10).
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  for (const auto& [n, most_undecided] : {std::pair{5U, 0.025}, std::pair{10U, 0.006}}) {
    int failed = 0;
    int undecided = 0;
    constexpr int rounds = 4000;
    for (int round = 0; round < rounds; ++round) {
      Values values(n);
      for (double& value : values)
        value = normal(engine);
      const Verdict verdict = judge(values, {normal(engine)}).verdict;
      failed += verdict == Verdict::fail ? 1 : 0;
      undecided += verdict == Verdict::inconclusive ? 1 : 0;
    }
    INFO(n);
    CHECK(failed < 0.01 * rounds + 3 * std::sqrt(0.0099 * rounds));
    CHECK(failed > 0.01 * rounds - 3 * std::sqrt(0.0099 * rounds));
    CHECK(undecided < most_undecided * rounds);
  }
}

TEST_CASE("baseline: of twenty metrics that a good run has one that lies apart is no FAIL") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(1, 0.1);
  const auto drawn = [&](std::size_t count) {
    Values values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(normal(random));
    return values;
  };
  constexpr int rounds = 400;
  int alone = 0;
  int together = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<BaselineVerdict> verdicts;
    for (int metric = 0; metric < 20; ++metric)
      verdicts.push_back(judge(drawn(10), drawn(1)));
    const auto fails = [&] {
      return std::any_of(verdicts.begin(), verdicts.end(), [](const BaselineVerdict& one) {
        return one.verdict == Verdict::fail;
      });
    };
    alone += fails() ? 1 : 0;
    std::vector<BaselineVerdict*> all;
    for (BaselineVerdict& one : verdicts)
      all.push_back(&one);
    compare::adjust_for_many(all);
    together += fails() ? 1 : 0;
  }
  // 1 - 0.99^20 is 18 %; Holm keeps the family at 1 %, and three standard errors more.
  CHECK(alone > 0.12 * rounds);
  CHECK(together <= (0.01 + 3 * std::sqrt(0.01 * 0.99 / rounds)) * rounds);
}

TEST_CASE("baseline: what is far off stays a FAIL among many and so does what is no test") {
  std::vector<BaselineVerdict> verdicts(19, judge(ten, {0.3}));
  verdicts.push_back(judge(ten, {0.5}));
  REQUIRE(verdicts.back().chance);
  CHECK(verdicts.back().chance->p < 1e-6);
  verdicts.push_back(judge(ten, {0.329}));
  CHECK(verdicts.back().verdict == Verdict::fail);
  CHECK(verdicts.back().chance->p < 0.01);
  verdicts.push_back(judge({2, 2, 2}, {3}));  // a rung
  CHECK_FALSE(verdicts.back().chance);
  std::vector<BaselineVerdict*> all;
  for (BaselineVerdict& one : verdicts)
    all.push_back(&one);
  compare::adjust_for_many(all);
  CHECK(verdicts[0].verdict == Verdict::pass);
  CHECK(verdicts[19].verdict == Verdict::fail);
  CHECK(verdicts[20].verdict == Verdict::inconclusive);
  CHECK_THAT(verdicts[20].reason, Contains("among 21 metrics"));
  CHECK(verdicts[21].verdict == Verdict::fail);
}

TEST_CASE("baseline: a PASS by statistics notes a promised value that another of its seed is not") {
  BaselineTerms promised = terms(seeds_from(1, 10));
  promised.tolerance.relative = 1e-6;
  const auto noted = [&](double value, std::uint64_t seed) {
    const auto verdict = compare::judge_result(reference(ten), judged({value}, {seed}), promised);
    CHECK(verdict.verdict == Verdict::pass);
    CHECK(verdict.failed_run.empty());
    return verdict.note;
  };
  CHECK(noted(0.303, 1).empty());  // nothing is promised
  promised.deterministic = true;
  CHECK(noted(0.303, 1) ==
        "seed 1: the baseline has 0.3, this run 0.303: relative 0.0099, beyond the tolerance "
        "1e-06; '--require tolerance' judges so");
  CHECK(noted(0.3, 1).empty());
  CHECK(noted(0.30000000001, 1).empty());
  CHECK(noted(0.303, 11).empty());  // the baseline has no such seed
  promised.deterministic = false;
  promised.recipe = spec::Rung::bitwise;
  CHECK_THAT(noted(0.303, 1), Contains("not equal to the bit; '--require bitwise'"));
}

TEST_CASE("baseline: values that are judged by something else are not comparable") {
  spec::BaselineMetric metric = reference(ten);
  JudgedMetric runs = judged({0.3, 0.3}, seeds_from(100, 2));
  const auto verdict = [&] {
    return compare::judge_result(metric, runs, terms(seeds_from(1, 10)));
  };
  CHECK(verdict().verdict != Verdict::not_comparable);
  runs.judges = {std::nullopt, "best"};
  CHECK(verdict().verdict == Verdict::not_comparable);
  CHECK_THAT(verdict().reason,
             Contains("run-2 is judged by 'best', the baseline by 'last'") &&
                 Contains("sabath baseline propose") && Contains("sabath collect run-2 --with"));
  metric.judge = "best";
  CHECK_THAT(verdict().reason, Contains("run-1 is judged by 'last', the baseline by 'best'"));
  runs.judges = {"best", "best"};
  CHECK(verdict().verdict != Verdict::not_comparable);
  // A run without a value is judged by nothing.
  runs.values[0].reset();
  runs.judges[0].reset();
  CHECK(verdict().verdict != Verdict::not_comparable);
  runs.judges.clear();
  CHECK_THAT(verdict().reason, Contains("run-2 is judged by 'last', the baseline by 'best'"));
}

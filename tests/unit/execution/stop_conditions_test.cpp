#include "stop/stop_conditions.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using namespace std::chrono_literals;
using base::no_step;
using execution::StopConditions;

namespace {

spec::MetricSpec metric(spec::Better better) {
  spec::MetricSpec made;
  made.name = "loss";
  made.better = better;
  return made;
}

/// The conditions of one metric, and values one after another.
class Fed {
 public:
  explicit Fed(const spec::StopCondition& condition, spec::Better better = spec::Better::lower)
      : conditions("train", {{"loss", condition}}, {metric(better)}) {
    conditions.arrive(now);
  }
  Fed& add(double value, std::int64_t step, std::int64_t epoch = no_step, std::int32_t rank = 0) {
    conditions.add(conditions.open("train", "loss"), {rank, step, epoch, value});
    return *this;
  }
  Fed& wait(std::chrono::seconds time) {
    now += time;
    conditions.arrive(now);
    return *this;
  }
  std::string held() const { return conditions.held().value_or("none"); }

  StopConditions::Time now{};
  StopConditions conditions;
};

spec::StopCondition nan_condition() {
  spec::StopCondition condition;
  condition.nan = true;
  return condition;
}

spec::StopCondition steps(std::uint64_t number) {
  spec::StopCondition condition;
  condition.steps = number;
  return condition;
}

spec::StopCondition time(std::chrono::seconds time) {
  spec::StopCondition condition;
  condition.time = time;
  return condition;
}

}  // namespace

TEST_CASE("stop conditions: NaN of any rank holds, infinities do not") {
  const double nan = std::nan("");
  CHECK(Fed(nan_condition()).add(1, 1).add(HUGE_VAL, 2).held() == "none");
  CHECK(Fed(nan_condition()).add(1, 1).add(nan, 2).held() == "train/loss is NaN at step 2");
  CHECK(Fed(nan_condition()).add(nan, 2, 0, 3).held() == "train/loss is NaN at step 2 (rank 3)");
  CHECK(Fed(nan_condition()).add(nan, no_step, 4).held() == "train/loss is NaN at epoch 4");
  CHECK(Fed(nan_condition()).add(1, no_step).add(nan, no_step).held() ==
        "train/loss is NaN at record 2");
}

TEST_CASE("stop conditions: the first that holds is kept, whatever follows") {
  Fed fed(nan_condition());
  fed.add(std::nan(""), 1).add(1, 2).add(std::nan(""), 3);
  CHECK(fed.held() == "train/loss is NaN at step 1");
}

TEST_CASE("stop conditions: a bound itself is within") {
  spec::StopCondition bounds;
  bounds.above = 2;
  bounds.below = -1;
  CHECK(Fed(bounds).add(2, 1).add(-1, 2).add(std::nan(""), 3).held() == "none");
  CHECK(Fed(bounds).add(HUGE_VAL, 1).held() == "train/loss is inf at step 1, above 2");
  CHECK(Fed(bounds).add(-1.5, 1).held() == "train/loss is -1.5 at step 1, below -1");
}

TEST_CASE("stop conditions: steps without a better value are counted from the best one") {
  CHECK(Fed(steps(3)).add(1, 10).add(1, 11).add(2, 12).held() == "none");
  CHECK(Fed(steps(3)).add(1, 10).add(1, 11).add(2, 13).held() ==
        "train/loss has not improved for 3 steps: the best value is 1 at step 10");
  CHECK(Fed(steps(3)).add(1, 10).add(0.5, 12).add(2, 14).held() == "none");
  CHECK(Fed(steps(3), spec::Better::higher).add(1, 10).add(2, 12).add(1.5, 14).held() == "none");
  CHECK(Fed(steps(1), spec::Better::higher).add(2, 1).add(1, 2).held() ==
        "train/loss has not improved for 1 step: the best value is 2 at step 1");
}

TEST_CASE("stop conditions: NaN is never better, and a number is better than NaN") {
  const double nan = std::nan("");
  CHECK(Fed(steps(2)).add(1, 1).add(nan, 2).add(nan, 3).held() != "none");
  CHECK(Fed(steps(2)).add(nan, 1).add(5, 2).add(4, 3).add(6, 4).held() == "none");
  CHECK(Fed(steps(2)).add(nan, 1).add(nan, 3).held() != "none");
}

TEST_CASE("stop conditions: steps may begin anew in each epoch, or be missing") {
  CHECK(Fed(steps(4)).add(1, 0, 1).add(2, 2, 1).add(2, 0, 2).held() == "none");
  CHECK(Fed(steps(4)).add(1, 0, 1).add(2, 2, 1).add(2, 0, 2).add(2, 1, 2).held() ==
        "train/loss has not improved for 4 steps: the best value is 1 at step 0");
  CHECK(Fed(steps(2)).add(1, no_step, 5).add(2, no_step, 7).held() ==
        "train/loss has not improved for 2 epochs: the best value is 1 at epoch 5");
  CHECK(Fed(steps(2)).add(1, no_step).add(2, no_step).add(2, no_step).held() ==
        "train/loss has not improved for 2 records: the best value is 1 at record 1");
}

TEST_CASE("stop conditions: the lowest rank is to improve, in whatever order ranks come") {
  CHECK(Fed(steps(2)).add(1, 1).add(9, 5, no_step, 1).held() == "none");
  CHECK(Fed(steps(2)).add(9, 5, no_step, 1).add(1, 1).add(1, 2).held() == "none");
  CHECK(Fed(steps(2)).add(9, 5, no_step, 1).add(1, 1).add(1, 3).held() != "none");
}

TEST_CASE("stop conditions: time counts from the first value, and from each better one") {
  Fed fed(time(60s));
  CHECK(fed.wait(1000s).held() == "none");
  CHECK(fed.add(1, 1).wait(59s).held() == "none");
  CHECK(fed.add(0.5, 2).wait(59s).held() == "none");
  CHECK(fed.add(0.5, 3).wait(1s).held() ==
        "train/loss has not improved for 1 minutes: the best value is 0.5 at step 2");
}

TEST_CASE("stop conditions: points that come again do not turn back the time") {
  Fed fed(time(60s));
  fed.add(1, 1).wait(50s);
  fed.conditions.forget();
  CHECK(fed.held() == "none");
  CHECK(fed.add(1, 1).wait(10s).held() != "none");
  Fed better(time(60s));
  better.add(1, 1).wait(50s);
  better.conditions.forget();
  CHECK(better.add(1, 1).add(0.5, 2).wait(10s).held() == "none");
}

TEST_CASE("stop conditions: other metrics and other stages do not count") {
  Fed fed(nan_condition());
  fed.conditions.add(fed.conditions.open("train", "__proto__"), {0, 1, no_step, std::nan("")});
  fed.conditions.add(fed.conditions.open("other", "loss"), {0, 1, no_step, std::nan("")});
  CHECK(fed.held() == "none");
}

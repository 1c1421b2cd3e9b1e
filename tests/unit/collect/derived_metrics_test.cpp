#include "support/memory_sink.hpp"

#include <sabath/collect/collect.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace sabath;
using Values = std::vector<double>;

namespace {

/// Points of one stream, given to DerivedMetrics, and what came out.
class Derived {
 public:
  explicit Derived(std::vector<spec::MetricSpec> declared = {})
      : declared_(std::move(declared)), metrics_(declared_, sink_) {}

  Derived& add(const std::string& metric, const base::SeriesPoint& point) {
    metrics_.add(metrics_.open("train", metric), point);
    return *this;
  }
  void count_samples(const std::string& metric) { metrics_.count_samples("train", metric); }
  void start(double time_s) { metrics_.start("train", time_s); }
  std::vector<std::string> finish() { return metrics_.finish(); }
  Values values(const std::string& name) const {
    Values result;
    const auto found = sink_.points.find("train/" + name);
    if (found == sink_.points.end()) return result;
    for (const auto& point : found->second)
      result.push_back(point.value);
    return result;
  }

 private:
  std::vector<spec::MetricSpec> declared_;
  test::MemorySink sink_{};
  collect::DerivedMetrics metrics_;
};

spec::MetricSpec with_target(double target, spec::Better better) {
  spec::MetricSpec metric;
  metric.name = "acc";
  metric.target = target;
  metric.better = better;
  return metric;
}

base::SeriesPoint at(std::int64_t step, std::int64_t epoch, double value, double time_s) {
  return {0, step, epoch, value, time_s};
}

const double no_time = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("derived: time per epoch, time per step and steps per second follow from times") {
  Derived derived;
  derived.add("loss", at(10, 1, 5, 100)).add("loss", at(20, 1, 4, 105));
  derived.add("loss", at(30, 2, 3, 111)).add("loss", at(40, 2, 2, 117));
  derived.add("loss", at(50, 3, 1, 120));
  CHECK(derived.finish().empty());
  // Epoch 1 has no beginning, epoch 3 was cut off.
  CHECK(derived.values(spec::seconds_per_epoch) == Values{12});
  CHECK(derived.values(spec::seconds_per_step) == Values{0.5});
  CHECK(derived.values(spec::steps_per_second) == Values{2});
  CHECK(derived.values("loss") == Values{5, 4, 3, 2, 1});
}

TEST_CASE("derived: where steps are samples there are samples per second alone") {
  Derived derived;
  derived.add("loss", at(0, 1, 5, 100)).add("loss", at(512, 1, 4, 101));
  derived.add("loss", at(1024, 1, 3, 102));
  derived.count_samples("loss");
  derived.count_samples("absent");
  derived.finish();
  CHECK(derived.values(spec::samples_per_second) == Values{512});
  CHECK(derived.values(spec::steps_per_second).empty());
  CHECK(derived.values(spec::seconds_per_step).empty());
}

TEST_CASE("derived: epochs between two points share the time, and one that goes back has none") {
  Derived derived;
  for (const int epoch : {4, 8, 12, 3, 4})
    derived.add("acc", at(base::no_step, epoch, 1, 10 * epoch));
  derived.finish();
  CHECK(derived.values(spec::seconds_per_epoch) == Values{10, 10, 10});
}

TEST_CASE("derived: steps that begin anew in each epoch are counted between the beginnings") {
  Derived derived;
  for (int i = 0; i < 30; ++i)
    derived.add("loss", at(i % 10, i / 10, 1, i + 5 * (i / 10)));  // 5 s of validation
  derived.finish();
  CHECK(derived.values(spec::seconds_per_step) == Values{1});
  CHECK(derived.values(spec::steps_per_second) == Values{1});
  CHECK(derived.values(spec::seconds_per_epoch) == Values{15, 15});
}

TEST_CASE("derived: an epoch of one point, and one whose clock went back, have no steps") {
  Derived single;
  for (int epoch = 1; epoch <= 3; ++epoch)
    single.add("loss", at(100 - epoch, epoch, 1, 10 * epoch));
  single.finish();
  CHECK(single.values(spec::seconds_per_step).empty());
  Derived torn;
  torn.add("loss", at(1, 1, 1, 50)).add("loss", at(9, 1, 1, 10));
  torn.add("loss", at(1, 2, 1, 60)).add("loss", at(5, 2, 1, 68));
  torn.finish();
  CHECK(torn.values(spec::seconds_per_step) == Values{2});
}

TEST_CASE("derived: a start that is told is where the time to a target begins") {
  Derived derived({with_target(0.5, spec::Better::higher)});
  derived.add("loss", at(1, 1, 9, 90)).add("acc", at(5, 1, 0.75, 108));
  derived.start(100);
  CHECK(derived.finish().empty());
  CHECK(derived.values(spec::seconds_to_target("acc")) == Values{8});
}

TEST_CASE("derived: the time to a target begins at the earliest time, and not on another clock") {
  Derived late({with_target(0.5, spec::Better::higher)});
  late.add("acc", at(5, 1, 0.75, 108)).add("loss", at(1, 1, 9, 100));
  CHECK(late.finish().empty());
  CHECK(late.values(spec::seconds_to_target("acc")) == Values{8});
  Derived mixed({with_target(0.5, spec::Better::higher)});
  mixed.add("loss", at(1, 1, 9, 2)).add("acc", at(5, 1, 0.75, 1.7e9));
  CHECK(mixed.finish() ==
        std::vector<std::string>{"metric 'acc' reached its target, but the stage's points have "
                                 "times of different clocks"});
}

TEST_CASE("derived: without times there is nothing") {
  Derived derived;
  derived.add("loss", at(1, 1, 5, no_time)).add("loss", at(2, 2, 5, no_time));
  CHECK(derived.finish().empty());
  CHECK(derived.values(spec::seconds_per_epoch).empty());
  CHECK(derived.values(spec::seconds_per_step).empty());
}

TEST_CASE("derived: other series and other ranks do not count twice") {
  Derived derived;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    derived.add("loss", at(epoch, epoch, 1, 10 * epoch));
    base::SeriesPoint other = at(epoch, epoch, 1, 10 * epoch + 3);
    derived.add("acc", other);
    other.rank = 1;
    derived.add("loss", other);
  }
  derived.finish();
  CHECK(derived.values(spec::seconds_per_epoch) == Values{10, 10});
  CHECK(derived.values(spec::seconds_per_step) == Values{10});
}

TEST_CASE("derived: a clock that goes back gives no negative times") {
  Derived derived;
  derived.add("loss", at(1, 1, 1, 100)).add("loss", at(2, 2, 1, 50)).add("loss", at(3, 3, 1, 60));
  derived.finish();
  CHECK(derived.values(spec::seconds_per_epoch) == Values{10});
  CHECK(derived.values(spec::steps_per_second).empty());
}

TEST_CASE("derived: a clock that is set back leaves no time to a target, and is told") {
  spec::MetricSpec loss = with_target(0.2, spec::Better::lower);
  loss.name = "loss";
  Derived derived({loss});
  for (int i = 0; i < 30; ++i)
    derived.add("loss", at(i, i / 5, 1.0 / (i + 1), 1000 + i - (i < 15 ? 0 : 3600)));
  const std::vector<std::string> notes = derived.finish();
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("times go back at step 15: "));
  CHECK(derived.values(spec::seconds_to_target("loss")).empty());
  CHECK(derived.values(spec::seconds_per_step).empty());
  CHECK(derived.values(spec::steps_per_second).empty());
  CHECK(derived.values(spec::seconds_per_epoch) == Values{5, 5, 5, 5});
}

TEST_CASE("derived: a stretch in which the clock was set back by little has no steps") {
  Derived derived;
  for (int i = 0; i < 20; ++i)
    derived.add("loss", at(i, base::no_step, 1, 2 * i - (i < 15 ? 0 : 10)));
  CHECK(derived.finish().size() == 1);
  CHECK(derived.values(spec::seconds_per_step).empty());
  // The steps before it count where they begin anew there.
  Derived anew;
  for (int i = 0; i < 20; ++i)
    anew.add("loss", at(i % 10, base::no_step, 1, 2 * i - (i < 10 ? 0 : 100)));
  CHECK(anew.finish().size() == 1);
  CHECK(anew.values(spec::seconds_per_step) == Values{2});
}

TEST_CASE("derived: points of several processes in one log may be out of order by little") {
  Derived derived({with_target(0.5, spec::Better::higher)});
  derived.add("acc", at(0, 1, 0.1, 100)).add("acc", at(1, 1, 0.2, 110));
  derived.add("acc", at(1, 1, 0.2, 109.9)).add("acc", at(2, 1, 0.6, 120));
  CHECK(derived.finish().empty());
  CHECK(derived.values(spec::seconds_to_target("acc")) == Values{20});
  CHECK(derived.values(spec::seconds_per_step) == Values{10});
}

TEST_CASE("derived: the time to a target is from the first time of the stage") {
  Derived derived({with_target(0.5, spec::Better::higher)});
  derived.add("loss", at(1, 1, 9, 100));
  derived.add("acc", at(1, 1, 0.25, 101)).add("acc", at(2, 2, 0.5, 107.5));
  derived.add("acc", at(3, 3, 0.75, 109));
  CHECK(derived.finish().empty());
  CHECK(derived.values(spec::seconds_to_target("acc")) == Values{7.5});
}

TEST_CASE("derived: a target that is not reached, or at no known time, is told") {
  Derived never({with_target(0.5, spec::Better::lower)});
  never.add("acc", at(1, 1, 0.75, 1)).add("acc", at(1, 1, std::nan(""), 1));
  CHECK(never.finish() == std::vector<std::string>{"metric 'acc' did not reach its target"});
  Derived timeless({with_target(0.5, spec::Better::lower)});
  timeless.add("acc", at(1, 1, 0.25, no_time));
  CHECK(
      timeless.finish() ==
      std::vector<std::string>{"metric 'acc' reached its target, but its points have no time: how "
                               "long it took is not known"});
  CHECK(timeless.values(spec::seconds_to_target("acc")).empty());
}

TEST_CASE("derived: what the code itself reports under such a name is not added to") {
  Derived derived;
  derived.add(spec::steps_per_second, at(1, 1, 7, no_time));
  derived.add("loss", at(1, 1, 5, 1)).add("loss", at(2, 1, 5, 2));
  derived.finish();
  CHECK(derived.values(spec::steps_per_second) == Values{7});
  CHECK(derived.values(spec::seconds_per_step) == Values{1});
}

#include <sabath/spec/run_count.hpp>
#include <sabath/spec/shown_value.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath::spec;

TEST_CASE("run purpose: only what sabath itself tags is no request of somebody") {
  CHECK(purpose_of({}) == RunPurpose::requested);
  CHECK(purpose_of({"ci", "task:infer"}) == RunPurpose::requested);
  CHECK(purpose_of({"ci", "asset:bubbles"}) == RunPurpose::asset);
  CHECK(purpose_of({"explain", "hybrid-0123456789abcdef"}) == RunPurpose::explanation);
  for (const char* tag : {"hybrid-model", "hybrid-0123456789abcdeg", "hybrid-0123456789abcdef0"})
    CHECK(purpose_of({"explain", tag}) == RunPurpose::requested);
  CHECK(purpose_of({"hybrid-0123456789abcdef"}) == RunPurpose::requested);
}

TEST_CASE("shown value: of performance the median after the warm-up, else the last") {
  MetricSummary metric;
  metric.points = 4;
  metric.last = 50;
  metric.median = 10.5;
  CHECK(shown_value(metric) == 50);
  metric.performance = true;
  CHECK(shown_value(metric) == 10.5);
  metric.median = std::nan("");
  CHECK_FALSE(shown_value(metric).has_value());
  metric.points = 0;
  metric.performance = false;
  CHECK_FALSE(shown_value(metric).has_value());
  CHECK(shown_title("train/loss", "1", false) == "train/loss");
  CHECK(shown_title("epoch_ms", "ms", true) == "epoch_ms [ms], median");
}

TEST_CASE("shown value: of a result the one that it is judged by, with its label") {
  MetricSummary metric;
  metric.points = 4;
  metric.last = 50;
  metric.judge = "best";
  metric.judged = 10;
  CHECK(shown_value(metric) == 10);
  CHECK(shown_title("train/loss", "1", false, metric.judge) == "train/loss, best");
  CHECK(shown_title("train/loss", "s", false, "mean of last 5") ==
        "train/loss [s], mean of last 5");
  CHECK(judge_text(metric.judge) == "best");
  CHECK(judge_text({}) == "last");
}

TEST_CASE("shown value: whole numbers have the digits of the value that is judged") {
  MetricSummary metric;
  metric.stream = "train";
  metric.name = "sum";
  metric.better = Better::lower;
  const WholeSummaries whole{{"train/sum", {"1", "2", "3", "4"}}};
  CHECK(whole_judged(whole, metric) == "2");
  metric.judge = "best";
  CHECK(whole_judged(whole, metric) == "3");
  metric.better = Better::higher;
  CHECK(whole_judged(whole, metric) == "4");
  metric.judge = "mean of last 2";
  CHECK(whole_judged(whole, metric).empty());
  CHECK(whole_judged({}, metric).empty());
}

TEST_CASE("group name: keys with their values, sides, and all runs") {
  CHECK(group_name({"dropout", "lr"}, {"0", "0.25"}) == "dropout 0, lr 0.25");
  CHECK(group_name({"host"}, {""}) == "host (none)");
  CHECK(group_name({"hidden"}, {shown_text("")}) == "hidden (empty)");
  CHECK(group_name({"side"}, {"A"}) == "A");
  CHECK(group_name({}, {}) == "all runs");
}

#include "random_fields.hpp"
#include "spec/documents/site_json.hpp"
#include "spec/records/run_record_json.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/run_status.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace sabath;

namespace {

constexpr unsigned rounds = 200;

/// Writes 200 random values as text and reads them back.
template <class T, class Parse>
void check_round_trip(Parse parse) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    const T value = test::RandomFields(seed).value<T>();
    const std::string text = base::pretty_json(to_json(value));
    const T again = parse(text, "random");
    INFO("seed " << seed << "\n" << text);
    REQUIRE(again == value);
    REQUIRE(base::pretty_json(to_json(again)) == text);
  }
}

}  // namespace

TEST_CASE("spec: plans come back from JSON as they were") {
  check_round_trip<spec::RunPlan>(spec::parse_run_plan);
}

TEST_CASE("spec: statuses come back from JSON as they were") {
  check_round_trip<spec::RunStatus>(spec::parse_run_status);
}

TEST_CASE("spec: records come back from JSON as they were") {
  check_round_trip<spec::RunRecord>(spec::parse_run_record);
}

TEST_CASE("spec: host facts come back from JSON as they were") {
  check_round_trip<spec::HostFacts>(spec::parse_host_facts);
}

TEST_CASE("spec: environment locks come back from JSON as they were") {
  check_round_trip<spec::EnvironmentLock>(spec::parse_environment_lock);
}

TEST_CASE("spec: batches come back from JSON as they were") {
  check_round_trip<spec::BatchPlan>(spec::parse_batch_plan);
  check_round_trip<spec::BatchJobs>(spec::parse_batch_jobs);
}

TEST_CASE("spec: a metric that is not a number stays so") {
  spec::RunRecord record;
  record.metrics.emplace_back();
  record.metrics.front().last = -0.0;
  const auto again = spec::parse_run_record(base::pretty_json(to_json(record)), "record.json");
  CHECK(std::isnan(again.metrics.front().first));
  CHECK(std::signbit(again.metrics.front().last));
}

TEST_CASE("spec: a seed above 2^63 survives") {
  spec::RunPlan plan;
  plan.seed = {18446744073709551615U, "option"};
  const auto again = spec::parse_run_plan(base::pretty_json(to_json(plan)), "plan.json");
  CHECK(again.seed.value == 18446744073709551615U);
}

TEST_CASE("spec: whole numbers keep apart as integers and reals") {
  spec::RunPlan plan;
  plan.parameters = {{"epochs", std::int64_t{5}}, {"rate", 5.0}, {"huge", 1e300}};
  const auto again = spec::parse_run_plan(base::pretty_json(to_json(plan)), "plan.json");
  CHECK(again.parameters == plan.parameters);
}

TEST_CASE("spec: a record names what a metric is judged by only where it is not the last value") {
  spec::RunRecord record;
  record.metrics.resize(2);
  record.metrics[1].judge = "best";
  record.metrics[1].judged = std::nan("");
  const auto json = to_json(record);
  CHECK_FALSE(json["metrics"][0].contains("judge"));
  CHECK_FALSE(json["metrics"][0].contains("judged"));
  CHECK(json["metrics"][1]["judge"] == "best");
  const std::string text = base::pretty_json(json);
  for (const auto& again :
       {spec::parse_run_record(text, "x"), spec::parse_run_summary(text, "x")}) {
    CHECK_FALSE(again.metrics.at(0).judge.has_value());
    CHECK(again.metrics.at(1).judge == "best");
    CHECK(std::isnan(again.metrics.at(1).judged.value()));
  }
}

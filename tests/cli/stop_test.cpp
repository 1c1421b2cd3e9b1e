// Stop conditions: `stop_if` in a recipe, and --stop-when-diverged.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A line of shell that reports values, and then sleeps as no other process does.
class Reporting {
 public:
  explicit Reporting(int base) : seconds_(std::to_string(base + ::getpid())) {}
  ~Reporting() {
    for (const int pid : sleeping())
      ::kill(pid, SIGKILL);
  }
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;

  static std::string report(const std::string& values) {
    return "i=0; for v in " + values +
           R"(; do i=$((i+1)); echo "{{\"step\": $i, \"loss\": $v}}" >> $SABATH_METRICS; done; )";
  }
  std::string sleep() const { return "sleep " + seconds_ + " & wait"; }
  std::vector<int> sleeping() const {
    return processes_with("sleep" + std::string(1, '\0') + seconds_);
  }

 private:
  std::string seconds_;
};

std::string with(const std::string& conditions) {
  return R"({"metrics": {"loss": {"better": "lower"}}, "stop_if": {"loss": )" + conditions + "}}";
}

}  // namespace

TEST_CASE("cli: a run whose metric becomes NaN is stopped, and counts nowhere") {
  Sabath sabath;
  const Reporting code(11'000'000);
  const std::string recipe = sabath.shell_recipe(
      "diverging", Reporting::report("0.5 0.25 NaN") + code.sleep(), with(R"({"nan": true})"));
  const Answer run = sabath({"run", recipe, "--seed", "1"});
  INFO(run.output + run.errors);
  CHECK(run.status == 1);
  CHECK_THAT(run.output, Contains("stopped") && Contains("go/loss is NaN at step 3"));
  CHECK(code.sleeping().empty());
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "stopped");
  CHECK(record["message"] == "go/loss is NaN at step 3");
  CHECK(record["stages"][0]["state"] == "stopped");
  CHECK(record["metrics"][0]["points"] == 3);

  CHECK_THAT(sabath({"list", "runs", "state=stopped"}).output, Contains("no: stopped"));
  const Answer check = sabath({"check", "@last"});
  CHECK(check.status == 1);
  CHECK_THAT(check.output, Contains("FAIL") && Contains("go/loss is NaN at step 3"));
  CHECK(sabath({"wait", "@last"}).status == 1);
  CHECK_THAT(sabath({"status", "@last"}).output, Contains("stopped"));
}

TEST_CASE("cli: each kind of stop condition stops a run") {
  Sabath sabath;
  const Reporting code(12'000'000);
  const auto [conditions, reason] = GENERATE(table<std::string, std::string>(
      {{R"({"above": 4})", "go/loss is 5 at step 3, above 4"},
       {R"({"below": 0.25})", "go/loss is 0.125 at step 4, below 0.25"},
       {R"({"no_improvement": {"steps": 2}})",
        "go/loss has not improved for 2 steps: the best value is 0.125 at step 4"},
       {R"({"no_improvement": {"minutes": 0.002}})",
        "go/loss has not improved for 0.002 minutes: the best value is 0.125 at step 4"}}));
  const std::string recipe = sabath.shell_recipe(
      "limited", Reporting::report("0.5 0.25 5 0.125 0.5 0.5") + code.sleep(), with(conditions));
  const Answer run = sabath({"run", recipe});
  INFO(run.output + run.errors);
  CHECK(run.status == 1);
  CHECK(json::parse(sabath.newest())["message"] == reason);
  CHECK(code.sleeping().empty());
}

TEST_CASE("cli: a stage that ignores SIGTERM is killed when it is stopped") {
  Sabath sabath;
  const Reporting code(13'000'000);
  const std::string recipe =
      sabath.shell_recipe("stubborn",
                          "trap '' TERM; " + Reporting::report("NaN") + code.sleep(),
                          with(R"({"nan": true})"),
                          R"({"resources": {"grace": 1}})");
  CHECK(sabath({"run", recipe}).status == 1);
  CHECK(json::parse(sabath.newest())["state"] == "stopped");
  CHECK(code.sleeping().empty());
}

TEST_CASE("cli: the state of a run that ends by itself does not depend on when sabath looked") {
  Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("short", Reporting::report("0.5 NaN"), with(R"({"nan": true})"));
  CHECK(sabath({"run", recipe}).status == 1);
  CHECK(json::parse(sabath.newest())["message"] == "go/loss is NaN at step 2");
}

TEST_CASE("cli: a stop condition on a metric that never comes does not hold, and is reported") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "silent",
      "true",
      with(R"({"nan": true, "above": 1, "no_improvement": {"steps": 1, "minutes": 0.0001}})"));
  const Answer run = sabath({"run", recipe});
  CHECK(run.status == 0);
  CHECK_THAT(
      run.output + run.errors,
      Contains("stop_if: no stage reported 'loss', so that its conditions were not checked"));
}

TEST_CASE("cli: a resumed study does not run a stopped point again") {
  Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("points", Reporting::report("NaN"), with(R"({"nan": true})"));
  const Answer study = sabath({"--json", "run", recipe, "--seeds", "1..2"});
  CHECK(study.status == 1);
  const json answer = json::parse(study.output);
  INFO(study.output);
  CHECK(sabath.count_runs() == 2);
  const std::string id = answer["study"].get<std::string>();
  CHECK(sabath({"run", "--resume", id}).status == 1);
  CHECK(sabath({"run", "--resume", id, "--retry"}).status == 1);
  CHECK(sabath.count_runs() == 2);
}

TEST_CASE("cli: a run is stopped as soon as it diverges from another, and compare says FAIL") {
  Sabath sabath;
  const Reporting code(14'000'000);
  const std::string line = R"(b=0.25; [ {seed} = 2 ] && b=0.75; )" +
                           Reporting::report("0.5 $b 0.125") + "[ {seed} = 2 ] && {{ " +
                           code.sleep() + "; }}; true";
  const std::string recipe =
      sabath.shell_recipe("pair", line, R"({"metrics": {"loss": {"better": "lower"}}})");
  REQUIRE(sabath({"run", recipe, "--seed", "1"}).status == 0);
  const Answer run = sabath({"run", recipe, "--seed", "2", "--stop-when-diverged", "@last"});
  INFO(run.output + run.errors);
  CHECK(run.status == 1);
  CHECK(code.sleeping().empty());
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "stopped");
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("go/loss diverges at step 2: 0.25 against 0.75, required: tolerance"));
  const Answer compare = sabath({"compare", "@last~1", "@last"});
  CHECK(compare.status == 1);
  CHECK_THAT(compare.output, Contains("FAIL") && Contains("step 2"));
  const Answer check = sabath({"check", recipe, "--seed", "2", "--stop-when-diverged", "@last~1"});
  INFO(check.output);
  CHECK(check.status == 1);
  CHECK_THAT(check.output, Contains("FAIL"));
  // The same seed gives the same values: nothing stops it.
  CHECK(sabath({"run", recipe, "--seed", "1", "--stop-when-diverged", "@last~2"}).status == 0);
}

TEST_CASE("cli: a pair with a stopped run that is equal so far is INCONCLUSIVE") {
  Sabath sabath;
  const std::string line = Reporting::report("0.5 0.25") + "[ {seed} = 2 ] && " +
                           R"(echo "{{\"step\": 3, \"loss\": NaN}}" >> $SABATH_METRICS; true)";
  const std::string recipe = sabath.shell_recipe("begun", line, with(R"({"nan": true})"));
  REQUIRE(sabath({"run", recipe, "--seed", "1"}).status == 0);
  REQUIRE(sabath({"run", recipe, "--seed", "2"}).status == 1);
  const Answer compare = sabath({"compare", "@last~1", "@last"});
  CHECK(compare.status == 3);
  CHECK_THAT(compare.output, Contains("INCONCLUSIVE") && Contains("'stopped'"));
}

TEST_CASE("cli: --stop-when-diverged refuses runs that cannot be a reference") {
  Sabath sabath;
  const std::string bare = sabath.shell_recipe("bare", "true");
  REQUIRE(sabath({"run", bare}).status == 0);
  CHECK_THAT(sabath({"run", bare, "--stop-when-diverged", "@last"}).errors,
             Contains("has no metrics"));
  const std::string failing = sabath.shell_recipe("failing", "false");
  REQUIRE(sabath({"run", failing}).status == 1);
  CHECK_THAT(sabath({"run", failing, "--stop-when-diverged", "@last"}).errors,
             Contains("is 'failed'"));
  CHECK_THAT(sabath({"run", bare, "--stop-when-diverged", "@last"}).errors,
             Contains("is 'failed'"));
  const std::string other = sabath.shell_recipe("other", Reporting::report("1"));
  REQUIRE(sabath({"run", other}).status == 0);
  const Answer answer = sabath({"run", bare, "--stop-when-diverged", "@last"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("has another definition of its recipe"));
  CHECK(sabath({"run", bare, "--stop-when-diverged", "nothing"}).status == 10);
}

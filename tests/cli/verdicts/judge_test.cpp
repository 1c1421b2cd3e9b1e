// What a metric is judged by: one number stands for a run in every table and test.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Its loss is best at the second of three values, and worse at the last.
std::string recipe_judged(const Sabath& sabath, const std::string& judge) {
  return sabath.shell_recipe(
      "judged",
      R"(for v in 1.0 0.5 0.7; do echo "{{\"loss\": ${{v}}{seed}}}" >> $SABATH_METRICS; done)",
      R"({"parameters": {"threads": {"type": "int", "default": 1, "affects": "execution"}},
          "metrics": {"loss": {"better": "lower", "margin": 0.1)" +
          (judge.empty() ? "" : R"(, "judge": )" + judge) + "}}}");
}

std::string baseline_in(const Sabath& sabath) {
  return (sabath.folder() / "baseline.json").string();
}

}  // namespace

TEST_CASE("judge: lists, groups, baselines, checks and reports have the same value") {
  const Sabath sabath;
  const std::string recipe = recipe_judged(sabath, R"("best")");
  const Answer made = done(sabath, {"run", recipe, "--seed", "1"});
  CHECK_THAT(made.output, Contains("1.01 -> 0.71, best 0.51"));
  done(sabath, {"run", recipe, "--seed", "1", "--set", "threads=2"});

  const Answer listed = done(sabath, {"list", "runs", "--columns", "loss,last.loss,best.loss"});
  CHECK_THAT(
      listed.output,
      Contains("loss, best") && Contains("last.loss") && Contains("0.51") && Contains("0.71"));
  CHECK(answered(sabath, {"list", "runs", "loss<0.6"})["runs"].size() == 2);
  CHECK(answered(sabath, {"list", "runs", "last.loss<0.6"})["runs"].empty());

  const json groups = answered(sabath, {"compare", "recipe=judged", "--by", "threads"});
  CHECK(groups["status"] == 0);
  CHECK(groups["metrics"][0]["judge"] == "best");
  CHECK(groups["metrics"][0]["rows"][0]["mean"] == 0.51);
  CHECK_THAT(sabath({"compare", "recipe=judged", "--by", "threads"}).output,
             Contains("go/loss, best\n"));

  const std::string file = baseline_in(sabath);
  CHECK_THAT(done(sabath, {"baseline", "propose", "recipe=judged", "-o", file}).output,
             Contains("go/loss, best") && Contains("0.51 +- 0"));
  done(sabath, {"baseline", "accept", file, "--by", "anna"});
  CHECK(json::parse(text_of(file))["entries"][0]["metrics"][0]["values"] == json({0.51, 0.51}));
  const Answer checked = sabath({"check", "recipe=judged", "--baseline", file});
  CHECK(checked.status == 0);
  CHECK_THAT(checked.output, Contains("go/loss (best): equal to the bit"));

  const std::string table = (sabath.folder() / "runs.csv").string();
  done(sabath, {"report", "recipe=judged", "-o", table});
  CHECK_THAT(text_of(table), Contains("go/loss, best") && Contains(",0.51,"));
}

TEST_CASE("judge: runs that are judged by different values do not belong together") {
  const Sabath sabath;
  done(sabath, {"run", recipe_judged(sabath, R"("best")"), "--seed", "1"});
  const std::string file = baseline_in(sabath);
  done(sabath, {"baseline", "propose", "@last", "-o", file});
  done(sabath, {"baseline", "accept", file, "--by", "anna"});
  const std::string recipe = recipe_judged(sabath, "");
  done(sabath, {"run", recipe, "--seed", "1", "--set", "threads=2"});

  const Answer other = sabath({"check", "@last", "--baseline", file});
  CHECK(other.status == 4);
  CHECK_THAT(other.output, Contains("is judged by 'last'") && Contains("baseline by 'best'"));
  CHECK(sabath({"baseline", "propose", "recipe=judged", "-o", file}).status == 2);
  const json groups = answered(sabath, {"compare", "recipe=judged", "--by", "threads"});
  CHECK(groups["metrics"][0]["verdict"] == "INCONCLUSIVE");
  CHECK_THAT(groups["metrics"][0]["reason"].get<std::string>(),
             Contains("judged by several values of it") && Contains("'sabath collect RUN --with"));
  // Two runs are compared in all their values.
  CHECK(sabath({"compare", "@last~1", "@last"}).status == 0);

  // Read again with the document of the first, it is judged as that.
  recipe_judged(sabath, R"("best")");
  done(sabath, {"collect", "@last", "--with", recipe + "/recipe.json"});
  CHECK(answered(sabath, {"compare", "recipe=judged", "--by", "threads"})["status"] == 0);
  CHECK(sabath({"check", "@last", "--baseline", file}).status == 0);
}

TEST_CASE("judge: the answer of a study has a mean of the last values, with its label") {
  const Sabath sabath;
  const std::string recipe = recipe_judged(sabath, R"({"mean_of_last": 2})");
  const Answer answer = done(sabath, {"run", recipe, "--seeds", "1..2"});
  CHECK_THAT(answer.output, Contains("loss, mean of last 2") && Contains("0.61"));
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("mean of last 2 0.6"));
}

TEST_CASE("judge: a recipe that asks for the best of what has no direction is refused") {
  const Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("aimless", "true", R"({"metrics": {"loss": {"judge": "best"}}})");
  const Answer refused = sabath({"run", recipe});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors,
             Contains("/metrics/loss/judge: 'best' needs \"better\": lower or higher"));
}

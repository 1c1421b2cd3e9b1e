// The rules of a ranking, as people write them.
#include "problem_text.hpp"

#include <sabath/spec/group_comparison.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Contains;

namespace {

spec::RankingRules rules_of(const std::string& text) {
  return spec::parse_ranking_rules(text, "rules.json");
}

/// With its hint.
std::string problem_of(const std::string& text) {
  const test::Problem problem = test::problem_of([&] { rules_of(text); });
  return problem.text + "\n" + problem.hint;
}

}  // namespace

TEST_CASE("ranking rules: all members are read") {
  const spec::RankingRules rules = rules_of(
      R"({"schema": 1, "metric": "val_mse", "by": ["lr", "hidden"], "fixed": ["data", "epochs"],
          "seeds": {"at_least": 3, "same": true},
          "target": {"metric": "accuracy", "at_least": 0.9}, "margin": 0.01})");
  CHECK(rules.metric == "val_mse");
  CHECK(rules.by == std::vector<std::string>{"lr", "hidden"});
  CHECK(rules.fixed == std::vector<std::string>{"data", "epochs"});
  CHECK(rules.seeds == spec::RankingSeeds{3, true});
  CHECK(rules.target == spec::RankingTarget{"accuracy", {}, 0.9});
  CHECK(rules.target.reached_by(0.9));
  CHECK_FALSE(rules.target.reached_by(0.89));
  CHECK(rules.margin == 0.01);
}

TEST_CASE("ranking rules: without members there is no rule") {
  const spec::RankingRules rules = rules_of(R"({"schema": 1})");
  CHECK(rules.seeds == spec::RankingSeeds{1, false});
  CHECK_FALSE(rules.target.exists());
  CHECK_FALSE(rules.margin.has_value());
}

TEST_CASE("ranking rules: each mistake is named with its place") {
  CHECK_THAT(problem_of("{}"), Contains("schema"));
  CHECK_THAT(problem_of(R"({"schema": 1, "metrc": "x"})"),
             Contains("/metrc") && Contains("metric"));
  CHECK_THAT(problem_of(R"({"schema": 1, "margin": -1})"),
             Contains("/margin") && Contains("not negative"));
  CHECK_THAT(problem_of(R"({"schema": 1, "margin": "NaN"})"), Contains("finite"));
  CHECK_THAT(problem_of(R"({"schema": 1, "by": []})"), Contains("/by") && Contains("empty"));
  CHECK_THAT(problem_of(R"({"schema": 1, "by": ["lr", "lr"]})"), Contains("'lr' stands twice"));
  CHECK_THAT(problem_of(R"({"schema": 1, "by": ["seed"]})"), Contains("samples of each group"));
  CHECK_THAT(problem_of(R"({"schema": 1, "by": ["lr"], "fixed": ["lr"]})"),
             Contains("/fixed") && Contains("makes the groups"));
  CHECK_THAT(problem_of(R"({"schema": 1, "seeds": {"at_least": 0}})"), Contains("/seeds/at_least"));
  CHECK_THAT(problem_of(R"({"schema": 1, "target": {}})"), Contains("has no bound"));
  CHECK_THAT(problem_of(R"({"schema": 1, "target": {"at_most": 1, "at_least": 0}})"),
             Contains("both 'at_most' and 'at_least'"));
  CHECK_THAT(problem_of(R"({"schema": 1, "target": {"at_most": "Infinity"}})"), Contains("finite"));
  CHECK_THAT(problem_of(R"({"schema": 1, "better": "more"})"),
             Contains("'more' is not a direction") && Contains("one of lower, higher"));
  CHECK_THAT(problem_of(R"({"schema": 2})"), Contains("newer sabath"));
}

// `sabath rank` and `compare --better`: which setting is best, and is it better?
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A loss that depends on `lr`, on the seed, and a little on both; an quality; a metric without a
/// direction. Seed 99 of lr=3 diverges.
std::string sweep_recipe(const Sabath& sabath, const std::string& further_command = {}) {
  return sabath.shell_recipe(
      "sweep",
      "awk -v lr={param.lr} -v s={seed} 'BEGIN {{ "
      "printf \"{{\\\"loss\\\": %s, \\\"quality\\\": %.17g, \\\"count\\\": %d}}\\n\", "
      "(lr == 3 && s == 99 ? \"NaN\" : sprintf(\"%.17g\", (lr - 2) * (lr - 2) + s / 100 + "
      "(s * s * 7 % 5) * lr / 1000)), 1 - lr / 100, s }}' >> $SABATH_METRICS; " +
          further_command,
      R"({"parameters": {"lr": {"type": "float", "default": 1},
                         "threads": {"type": "int", "default": 1, "affects": "execution"}},
          "metrics": {"count": {"unit": "1"},
                      "loss": {"unit": "1", "better": "lower", "margin": 0.5},
                      "quality": {"unit": "1", "better": "higher"}}})");
}

void run(const Sabath& sabath, const std::vector<std::string>& further) {
  std::vector<std::string> words{"run", sweep_recipe(sabath)};
  words.insert(words.end(), further.begin(), further.end());
  done(sabath, words);
}

json ranked(const Sabath& sabath, const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"rank", "recipe=sweep"};
  words.insert(words.end(), further.begin(), further.end());
  return answered(sabath, words);
}

std::string rules(const Sabath& sabath, const std::string& text) {
  const std::string file = (sabath.folder() / "ranking.json").string();
  std::ofstream(file) << text;
  return file;
}

void refused(const Sabath& sabath,
             const std::vector<std::string>& words,
             const std::string& problem,
             int status = 2) {
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  CHECK(answer.status == status);
  CHECK_THAT(answer.errors, Contains(problem));
  CHECK(answer.output.empty());
}

}  // namespace

TEST_CASE("cli: a sweep is ranked by its first metric with a direction, and by what varies") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2,2.1,4", "--seeds", "1..4"});
  const json ranking = ranked(sabath);
  CHECK(ranking["status"] == 0);
  CHECK(ranking["metric"] == "go/loss");
  CHECK(ranking["by"] == json{"lr"});
  CHECK(ranking["runs"] == 16);
  CHECK(ranking["margin_from"] == "the recipe");
  CHECK(ranking["result"] == "tied");
  REQUIRE(ranking["groups"].size() == 4);
  const json& tied = ranking["groups"][1];
  CHECK(ranking["groups"][0]["levels"][0] == "2");
  CHECK(tied["levels"][0] == "2.1");
  CHECK(tied["place"] == 1);
  CHECK(tied["standing"] == "tied");
  CHECK(tied["pairs"] == 4);
  CHECK(ranking["groups"][2]["place"] == 3);
  CHECK(ranking["groups"][2]["standing"] == "behind");
  CHECK(ranking["groups"][2]["difference_low"].get<double>() > 0.9);
  const Answer text = sabath({"rank", "recipe=sweep"});
  CHECK(text.status == 0);
  CHECK_THAT(text.output,
             Contains("go/loss, lower is better; margin 0.5, by the recipe") &&
                 Contains("tied: equal within 0.5 (4 pairs)") && Contains("behind: ") &&
                 Contains("RESULT      TIED: lr 2 is tied with lr 2.1"));
  const json strict = ranked(sabath, {"--margin", "0"});
  CHECK(strict["result"] == "ranked");
  CHECK(strict["margin_from"] == "--margin");
  const json other = ranked(sabath, {"--metric", "quality"});
  CHECK(other["groups"][0]["levels"][0] == "1");
  CHECK(ranked(sabath, {"--metric", "go/loss", "--by", "lr"})["groups"] == ranking["groups"]);
}

TEST_CASE("cli: the report of a sweep begins with its ranking and a plot for each parameter") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=0.01,0.1,1,2", "--seeds", "1..3"});
  const auto reported = [&](const std::string& name, const std::vector<std::string>& further) {
    std::vector<std::string> words{
        "report", "recipe=sweep", "-o", (sabath.folder() / name).string()};
    words.insert(words.end(), further.begin(), further.end());
    done(sabath, words);
    return text_of(sabath.folder() / name);
  };
  const std::string page = reported("a.html", {});
  CHECK_THAT(page,
             Contains("<strong>RANKED</strong>") && Contains("go/loss: lr 2 is best") &&
                 Contains("go/loss over lr") && Contains("lr 0.01: n = 3"));
  CHECK(page.find("id=\"ranking\"") < page.find("id=\"results\""));
  CHECK_THAT(page, !Contains("NOT IDENTICAL"));
  const std::string markdown = reported("a.md", {});
  CHECK_THAT(markdown, Contains("**RANKED**") && Contains("## Ranking"));
  const json document = json::parse(reported("a.json", {}));
  CHECK(document["verdict"] == "RANKED");
  CHECK(document["ranking"]["groups"].size() == 4);
  CHECK(json::parse(reported("b.json", {"--by", "lr"}))["verdict"] == "RANKED");
  // Grouped by something else, it answers that.
  const json by_host = json::parse(reported("c.json", {"--by", "host", "--across", "lr"}));
  CHECK_FALSE(by_host.contains("ranking"));
}

TEST_CASE("cli: a report of runs whose result no parameter affects has no ranking") {
  const Sabath sabath;
  run(sabath, {"--sweep", "threads=1,2", "--seeds", "1..2"});
  const std::string file = (sabath.folder() / "a.json").string();
  done(sabath, {"report", "recipe=sweep", "-o", file});
  CHECK(json::parse(text_of(file))["verdict"] == "NOT IDENTICAL");
  done(sabath, {"report", "recipe=sweep", "--by", "threads", "-o", file});
  CHECK_FALSE(json::parse(text_of(file)).contains("ranking"));
  // Asked for, it is made.
  CHECK(ranked(sabath)["by"] == json{"threads"});
}

TEST_CASE("cli: groups that the rules exclude are listed with the reason") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2", "--seeds", "1..3"});
  run(sabath, {"--set", "lr=3", "--seeds", "1,2,99"});
  run(sabath, {"--set", "lr=4", "--seeds", "1,2"});
  run(sabath, {"--set", "lr=5", "--seeds", "4..6"});
  const json all = ranked(sabath);
  CHECK(all["groups"].size() == 4);
  REQUIRE(all["excluded"].size() == 1);
  CHECK(all["excluded"][0]["levels"][0] == "3");
  CHECK(all["excluded"][0]["reason"] == "1 of 3 runs has no finite value of go/loss");
  const std::string file = rules(sabath,
                                 R"({"schema": 1, "metric": "loss", "by": ["lr"],
                                     "fixed": ["data", "threads"],
                                     "seeds": {"at_least": 3, "same": true}})");
  const json strict = ranked(sabath, {"--rules", file});
  CHECK(strict["rules"] == file);
  CHECK(strict["groups"].size() == 2);
  std::string reasons;
  for (const json& group : strict["excluded"])
    reasons += group["reason"].get<std::string>() + "\n";
  CHECK_THAT(reasons,
             Contains("2 seeds, at least 3 are required") &&
                 Contains("its seeds are 4, 5, 6, of most groups 1, 2, 3"));
  const Answer text = sabath({"rank", "recipe=sweep", "--rules", file});
  CHECK_THAT(text.output, Contains("excluded    lr 3 (3 runs): 1 of 3 runs has no finite value"));
  const json target =
      ranked(sabath, {"--rules", rules(sabath, R"({"schema": 1, "target": {"at_most": 0.5}})")});
  CHECK(target["groups"].size() == 1);
  CHECK_THAT(target["excluded"].dump(),
             Contains("3 of 3 runs do not reach the target, go/loss at most 0.5"));
  const json none =
      ranked(sabath, {"--rules", rules(sabath, R"({"schema": 1, "target": {"at_most": -1}})")});
  CHECK(none["status"] == 3);
  CHECK(none["result"] == "none");
  // A time of runs that are accurate enough: the target is of another metric.
  const json accurate = ranked(
      sabath,
      {"--rules",
       rules(sabath, R"({"schema": 1, "target": {"metric": "quality", "at_least": 0.985}})")});
  CHECK(accurate["groups"].size() == 1);
  CHECK(accurate["groups"][0]["levels"][0] == "1");
}

TEST_CASE("cli: runs that differ in what is fixed are left out") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2", "--seeds", "1..3"});
  run(sabath, {"--sweep", "lr=1,2", "--seeds", "4", "--set", "threads=2"});
  const std::string fixed = rules(sabath, R"({"schema": 1, "by": ["lr"], "fixed": ["threads"]})");
  const json ranking = ranked(sabath, {"--rules", fixed});
  CHECK(ranking["runs"] == 6);
  CHECK(ranking["left_out"][0]["reason"] == "not as the rules fix it: threads is 2, not 1");
  CHECK(ranking["left_out"][0]["runs"] == 2);
}

TEST_CASE("cli: what cannot be ranked is said with what to do") {
  const Sabath sabath;
  refused(sabath, {"rank", "recipe=sweep"}, "no run matches", 10);
  run(sabath, {"--sweep", "lr=1,2", "--seeds", "1..2"});
  refused(sabath, {"rank", "recipe=sweep,lr=7"}, "no run matches", 10);
  refused(sabath, {"rank", "recipe=sweep,lr=1"}, "no parameter varies among the 2 runs");
  refused(sabath, {"rank", "recipe=sweep", "--by", "rl"}, "--by rl: none of the runs has that");
  refused(sabath, {"rank", "recipe=sweep", "--by", "seed"}, "seeds are the samples");
  refused(sabath, {"rank", "recipe=sweep", "--metric", "los"}, "did you mean 'loss'?");
  refused(
      sabath, {"rank", "recipe=sweep", "--metric", "count"}, "whether lower or higher is better");
  refused(sabath, {"rank", "recipe=sweep", "--margin", "-1"}, "zero or more");
  refused(sabath,
          {"rank", "recipe=sweep", "--by", "threads"},
          "parameter lr differs, which affects the result");
  CHECK(ranked(sabath, {"--by", "threads", "--across", "lr"})["status"] == 0);
  refused(sabath, {"rank", "recipe=sweep", "--rules", "nothing.json"}, "no such file", 10);
  refused(sabath,
          {"rank", "recipe=sweep", "--rules", rules(sabath, R"({"schema": 1, "metrc": "loss"})")},
          "did you mean 'metric'?");
  refused(sabath,
          {"rank", "recipe=sweep", "--rules", rules(sabath, R"({"schema": 1, "fixed": ["hos"]})")},
          "/fixed hos: none of the runs has that");
  const std::string by = rules(sabath, R"({"schema": 1, "by": ["lr"], "metric": "loss"})");
  refused(sabath, {"rank", "recipe=sweep", "--rules", by, "--by", "lr"}, "names it already");
  refused(sabath, {"rank", "recipe=sweep", "--rules", by, "--metric", "loss"}, "names it already");
}

TEST_CASE("cli: runs of two definitions, and a recipe without a direction, are not ranked") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2", "--seeds", "1..2"});
  done(sabath, {"run", sweep_recipe(sabath, "true"), "--set", "lr=3", "--seeds", "1..2"});
  refused(sabath, {"rank", "recipe=sweep"}, "the runs are of 2 definitions");
  CHECK(ranked(sabath, {"--across", "recipe"})["groups"].size() == 3);
  const std::string plain = sabath.shell_recipe(
      "plain",
      R"(echo "{{\"x\": {param.lr}}}" >> $SABATH_METRICS)",
      R"({"parameters": {"lr": {"type": "int", "default": 1}}, "metrics": {"x": {}}})");
  done(sabath, {"run", plain, "--sweep", "lr=1,2", "--seeds", "1..2"});
  refused(sabath, {"rank", "recipe=plain"}, "no metric with a target or a direction");
  // The rules may name one, and do not contradict the recipe.
  const json named =
      answered(sabath,
               {"rank",
                "recipe=plain",
                "--rules",
                rules(sabath, R"({"schema": 1, "metric": "x", "better": "higher"})")});
  CHECK(named["groups"][0]["levels"][0] == "2");
  refused(sabath,
          {"rank",
           "recipe=sweep",
           "--across",
           "recipe",
           "--rules",
           rules(sabath, R"({"schema": 1, "metric": "loss", "better": "higher"})")},
          "the recipe says 'lower'");
}

TEST_CASE("cli: runs that do not count are left out, and groups of one seed stay undecided") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2", "--seed", "1"});
  CHECK(sabath({"run", sweep_recipe(sabath, "exit 3"), "--set", "lr=2", "--seed", "2"}).status ==
        1);
  const json ranking = ranked(sabath);
  CHECK(ranking["left_out"][0]["reason"] == "failed");
  CHECK(ranking["result"] == "undecided");
  CHECK(ranking["groups"][1]["standing"] == "undecided");
  CHECK_FALSE(ranking["groups"][0].contains("low"));
  CHECK_THAT(ranking["notes"].dump(), Contains("all runs have one seed"));
  CHECK(answered(sabath, {"rank", "recipe=sweep,state=failed"})["status"] == 3);
}

TEST_CASE("cli: compare --better says whether B is better, worse, or cannot be separated") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2,2.01", "--seeds", "1..4"});
  const auto compared = [&](const std::string& a, const std::string& b) {
    return answered(sabath,
                    {"compare", "recipe=sweep," + a, "recipe=sweep," + b, "--better", "loss"});
  };
  const json better = compared("lr=1", "lr=2");
  CHECK(better["status"] == 0);
  CHECK(better["result"] == "PASS");
  CHECK(better["better"]["paired"] == true);
  CHECK(better["better"]["parameters"][0] == json{{"name", "lr"}, {"a", "1"}, {"b", "2"}});
  CHECK(compared("lr=2", "lr=1")["status"] == 1);
  const Answer text =
      sabath({"compare", "recipe=sweep,lr=1", "recipe=sweep,lr=2", "--better", "loss"});
  CHECK_THAT(text.output,
             Contains("differs     lr: 1 in A, 2 in B") && Contains("paired      4 seeds") &&
                 Contains("RESULT      PASS: go/loss: B is better") && !Contains("go/quality"));
  const json single = compared("lr=1,seed=1", "lr=2,seed=1");
  CHECK(single["status"] == 3);
  CHECK_THAT(single["reason"].get<std::string>(), Contains("one seed"));
  // Means far closer than the spread between seeds that the sides do not share.
  const json open = compared("lr=2,seed=1", "lr=2.01,seed=2");
  CHECK(open["status"] == 3);
}

TEST_CASE("cli: compare --better refuses what it cannot answer") {
  const Sabath sabath;
  run(sabath, {"--sweep", "lr=1,2", "--seeds", "1..2"});
  const std::vector<std::string> sides{"compare", "recipe=sweep,lr=1", "recipe=sweep,lr=2"};
  const auto with = [&](const std::vector<std::string>& further) {
    std::vector<std::string> words = sides;
    words.insert(words.end(), further.begin(), further.end());
    return words;
  };
  refused(sabath, with({"--better", "count"}), "whether lower or higher is better");
  refused(sabath, with({"--better", "los"}), "did you mean 'loss'?");
  refused(sabath, with({"--better", "loss", "--require", "bitwise"}), "cannot be used together");
  refused(sabath, with({"--better", "loss", "--margin", "1"}), "cannot be used together");
  refused(sabath, {"compare", "recipe=sweep", "--better", "loss"}, "compares two sides");
  refused(sabath,
          {"compare", "recipe=sweep,lr=1", "recipe=sweep,lr=1", "--better", "loss"},
          "is on both sides");
  // A run without a number proves nothing of its side.
  run(sabath, {"--set", "lr=3", "--seeds", "1,2,99"});
  const json diverged =
      answered(sabath, {"compare", "recipe=sweep,lr=2", "recipe=sweep,lr=3", "--better", "loss"});
  CHECK(diverged["status"] == 3);
  CHECK_THAT(diverged["reason"].get<std::string>(), Contains("1 run has no finite value"));
}

// Which runs count, how groups are ordered, and which value of a metric is shown: the same in all
// commands.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A loss that depends on everything, and a time whose last value is not its median.
std::string varied_recipe(const Sabath& sabath, const std::string& end = "") {
  return sabath.shell_recipe(
      "varied",
      R"(for ms in 9 10 11 5077; do echo "{{\"step\": $ms, \"epoch_ms\": $ms, \"loss\": )"
      R"({param.hidden}.{param.threads}{seed}{param.perturb_1ulp}}}" >> $SABATH_METRICS; done; )" +
          end,
      R"({"parameters": {"hidden": {"type": "int", "default": 8},
                         "lr": {"type": "float", "default": 0.001},
                         "threads": {"type": "int", "default": 1, "affects": "execution"},
                         "perturb_1ulp": {"type": "int", "default": 0}},
          "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.5},
                      "epoch_ms": {"unit": "ms", "better": "lower", "kind": "performance"}}})");
}

json report_of(const Sabath& sabath, std::vector<std::string> words) {
  const auto file = (sabath.folder() / "a.json").string();
  words.insert(words.begin(), "report");
  words.insert(words.end(), {"-o", file});
  done(sabath, words);
  return json::parse(text_of(file));
}

json parsed(const Sabath& sabath, std::vector<std::string> words) {
  words.emplace_back("--json");
  return json::parse(sabath(words).output);
}

}  // namespace

TEST_CASE("cli: list, report, compare, check, a study and power have one number of runs") {
  const Sabath sabath;
  const std::string recipe = varied_recipe(sabath);
  done(sabath, {"run", recipe, "--seeds", "1..3"});
  const json studies = parsed(sabath, {"list", "studies"});
  const std::string study = studies["studies"][0]["study"];
  done(sabath, {"run", recipe, "--seed", "1", "--set", "threads=2"});
  const std::string newest = sabath.run_directories().back().filename().string();
  done(sabath, {"run", recipe, "--seed", "1", "--perturb", "1ulp", "--repeat", "2"});
  // A tag of the user's own is no mark of explain.
  done(sabath, {"run", recipe, "--seed", "4", "--tag", "hybrid-model"});
  const std::string last = sabath.run_directories().back().filename().string();
  const auto first = sabath.run_directories().front().filename().string();
  const Answer explained = sabath({"explain", first, newest, "--budget", "4"});
  INFO(explained.output + explained.errors);
  const json hybrids = parsed(sabath, {"list", "runs", "tag=explain"});
  REQUIRE(hybrids["runs"].size() > 1);
  // Explain's runs are newer, and nobody requested them.
  CHECK(parsed(sabath, {"list", "runs", "@last"})["runs"][0]["id"] == last);
  varied_recipe(sabath, "exit 3");
  CHECK(sabath({"run", recipe, "--seed", "5"}).status == 1);
  varied_recipe(sabath);

  const std::uint64_t n = 5;
  const std::string all = "recipe=varied";
  const json listed = parsed(sabath, {"list", "runs", all, "--limit", "3"});
  CHECK_THAT(sabath({"list", "runs", "--limit", "2"}).output, Contains("of the runs shown "));
  CHECK(listed["runs"].size() == 3);
  CHECK(listed["count"]["counted"] == n);
  CHECK(listed["count"]["all"] == n + 2 + 1 + hybrids["runs"].size());
  CHECK_THAT(done(sabath, {"list", "runs", all}).output,
             Contains("no: made by explain") && Contains("no: perturbed") && Contains("5 of ") &&
                 Contains("left out: 1 failed, "));
  for (const std::vector<std::string>& by : {std::vector<std::string>{}, {"--by", "threads"}}) {
    std::vector<std::string> words{all};
    words.insert(words.end(), by.begin(), by.end());
    const json report = report_of(sabath, words);
    CHECK(report["count"] == listed["count"]);
    CHECK(report["groups"]["runs"] == n);
    words.insert(words.begin(), "compare");
    const json compared = parsed(sabath, words);
    CHECK(compared["runs"] == n);
    CHECK(compared["left_out"] == listed["count"]["left_out"]);
  }
  CHECK(parsed(sabath, {"check", all})["count"] == listed["count"]);
  CHECK_THAT(sabath({"check", all}).output, Contains("5 of "));
  CHECK(parsed(sabath, {"run", recipe, "--seeds", "1..3", "--dry-run"})["power"]["counted"] == n);
  CHECK(parsed(sabath, {"show", study})["count"]["counted"] == 3);
  CHECK(parsed(sabath, {"list", "runs", "study=" + study})["count"]["counted"] == 3);
  // What is named counts.
  CHECK(parsed(sabath, {"list", "runs", all + ",tag=explain"})["count"]["counted"] ==
        hybrids["runs"].size());
  CHECK(parsed(sabath, {"compare", all, "--by", "perturb_1ulp"})["runs"] == n + 2);
  CHECK(report_of(sabath, {all, "--by", "perturb_1ulp"})["count"]["counted"] == n + 2);
  CHECK(report_of(sabath, {hybrids["runs"][0]["id"].get<std::string>()})["count"]["counted"] == 1);
}

TEST_CASE("cli: groups stand in the order of their values and are named with their keys") {
  const Sabath sabath;
  done(sabath,
       {"run",
        varied_recipe(sabath),
        "--seed",
        "1",
        "--sweep",
        "hidden=8,32,100",
        "--sweep",
        "lr=0.001,3e-04"});
  const json compared = parsed(sabath, {"compare", "recipe=varied", "--by", "hidden,lr"});
  json levels = json::array();
  for (const json& group : compared["groups"])
    levels.push_back(group["levels"]);
  CHECK(levels == json::parse(R"([["8", "3e-04"], ["8", "0.001"], ["32", "3e-04"],
                                  ["32", "0.001"], ["100", "3e-04"], ["100", "0.001"]])"));
  CHECK_THAT(compared["reason"].get<std::string>() +
                 sabath({"compare", "recipe=varied", "--by", "hidden,lr"}).output,
             Contains("hidden 8, lr 3e-04"));
  const auto file = (sabath.folder() / "a.md").string();
  done(sabath, {"report", "recipe=varied", "--by", "hidden,lr", "-o", file});
  const std::string page = text_of(file);
  const auto place = [&](const std::string& group) {
    return page.find(R"(| go/epoch\_ms \[ms\] | )" + group + " | 1 |");
  };
  // Metrics of performance are by group, too.
  REQUIRE(place("hidden 8, lr 3e-04") != std::string::npos);
  CHECK(place("hidden 8, lr 0.001") < place("hidden 32, lr 3e-04"));
  CHECK(place("hidden 32, lr 0.001") < place("hidden 100, lr 3e-04"));
  const json report = report_of(sabath, {"recipe=varied", "--by", "hidden,lr"});
  const json& curves = report["courses"][0]["curves"];
  REQUIRE(curves.size() == 6);
  CHECK(curves[0]["name"] == "hidden 8, lr 3e-04");
  CHECK(curves[5]["name"] == "hidden 100, lr 0.001");
}

TEST_CASE("cli: a study's table and its CSV show one value of a metric with one label") {
  const Sabath sabath;
  const std::string answer = done(sabath, {"run", varied_recipe(sabath), "--seeds", "1..2"}).output;
  CHECK_THAT(answer, Contains("epoch_ms, median") && Contains("10.5") && !Contains(" 5077 "));
  const auto file = (sabath.folder() / "a.csv").string();
  done(sabath, {"report", "recipe=varied", "-o", file});
  CHECK_THAT(text_of(file), Contains("go/epoch_ms [ms], median") && Contains(",10.5,"));
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("median") && Contains("10.5"));
}

TEST_CASE("cli: what a cached stage measured once is named, where other stages ran again") {
  const Sabath sabath;
  const auto stage = [](const std::string& name, const std::string& metric) {
    return json{
        {"name", name},
        {"run",
         {{"shell", R"(echo '{{"step": 1, ")" + metric + R"(": 0.5}}' >> $SABATH_METRICS)"}}}};
  };
  json stages = {stage("train", "loss"), stage("test", "score")};
  stages[0]["cache"] = true;
  const json document = {{"schema", 1},
                         {"name", "half"},
                         {"environment", {{"layers", json::array()}}},
                         {"metrics", {{"loss", {{"unit", "1"}}}, {"score", {{"unit", "1"}}}}},
                         {"stages", stages}};
  const std::string recipe = sabath.recipe("half", document.dump());
  done(sabath, {"run", recipe, "--seed", "1", "--repeat", "3"});
  const std::string first = sabath.run_directories().front().filename().string();
  CHECK_THAT(done(sabath, {"list", "runs", "recipe=half"}).output, Contains("all 3 runs count"));
  CHECK_THAT(done(sabath, {"compare", first, "@last"}).output,
             Contains("of one execution, so that agreement proves nothing: train/loss"));
  CHECK_THAT(sabath({"compare", "recipe=half"}).output,
             Contains("train/loss: 3 values are of one execution, by " + first) &&
                 !Contains("test/score: 3"));
}

TEST_CASE("cli: copies of a cached stage are no repeats, and a fresh run is one") {
  const Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("cached",
                          R"(echo '{{"step": 1, "loss": 0.5}}' >> $SABATH_METRICS)",
                          R"({"metrics": {"loss": {"unit": "1", "better": "lower"}}})",
                          R"({"cache": true})");
  done(sabath, {"run", recipe, "--seed", "1", "--repeat", "4"});
  const std::string all = "recipe=cached";
  const auto count = [&] { return parsed(sabath, {"list", "runs", all})["count"]; };
  CHECK(count()["counted"] == 1);
  CHECK_THAT(done(sabath, {"list", "runs", all}).output,
             Contains("1 of 4 runs count; left out: 3 copied from the cache"));
  CHECK(parsed(sabath, {"compare", all})["left_out"] == count()["left_out"]);
  CHECK(report_of(sabath, {all})["count"] == count());
  CHECK(parsed(sabath, {"check", all})["count"] == count());
  const json studies = parsed(sabath, {"list", "studies"});
  CHECK(parsed(sabath, {"show", studies["studies"][0]["study"]})["count"]["counted"] == 1);
  const std::string baseline = (sabath.folder() / "bl.json").string();
  CHECK_THAT(done(sabath, {"baseline", "propose", all, "-o", baseline}).output + text_of(baseline),
             Contains("left out: 3 run(s) copied from the cache"));
  const std::string first = sabath.run_directories().front().filename().string();
  const std::string last = sabath.run_directories().back().filename().string();
  const Answer pair = sabath({"compare", first, last});
  CHECK(pair.status == 3);
  CHECK_THAT(pair.output, Contains("results of one execution, by " + first));
  done(sabath, {"baseline", "accept", baseline});
  const Answer checked = sabath({"check", last, "--baseline", baseline});
  CHECK_THAT(checked.output + checked.errors, Contains("agreement proves nothing"));
  done(sabath, {"run", recipe, "--seed", "1", "--fresh"});
  CHECK(count()["counted"] == 2);
  CHECK(sabath({"compare", first, "@last"}).status == 0);
}

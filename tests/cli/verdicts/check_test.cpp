// `sabath baseline` and `sabath check`.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A recipe whose numbers come from a script in its folder: the code may change while the recipe
/// stays what it is.
class Gate {
 public:
  explicit Gate(const std::string& script = "1.0$1") {
    recipe = sabath.shell_recipe("noisy",
                                 "sh {recipe}/go.sh {seed} {param.rate}",
                                 R"({"parameters": {"rate": {"type": "int", "default": 1}},
            "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.5},
                        "pace": {"unit": "s", "better": "lower", "kind": "performance"}}})");
    says(script);
  }

  /// The loss of every run from now on.
  void says(const std::string& loss, const std::string& pace = "1.00$1") const {
    write_text(fs::path(recipe) / "go.sh",
               "echo \"{\\\"step\\\": 1, \\\"loss\\\": " + loss + ", \\\"pace\\\": " + pace +
                   "}\" >> $SABATH_METRICS\n");
  }
  Answer run(const std::vector<std::string>& words, int status) const {
    Answer answer = sabath(words);
    INFO(answer.output + answer.errors);
    REQUIRE(answer.status == status);
    return answer;
  }
  Answer check(std::vector<std::string> further, int status) const {
    std::vector<std::string> words{"check", recipe, "--baseline", file()};
    words.insert(words.end(), further.begin(), further.end());
    return run(words, status);
  }
  void accept(const std::string& seeds) const {
    run({"run", recipe, "--seeds", seeds, "--tag", "good"}, 0);
    run({"baseline", "propose", "recipe=noisy,tag=good", "-o", file()}, 0);
    run({"baseline", "accept", file(), "--by", "anna", "--note", "first"}, 0);
  }
  std::string file() const { return (sabath.folder() / "baseline.json").string(); }
  json baseline() const { return json::parse(text_of(file())); }
  void write(const json& baseline) const { write_text(file(), baseline.dump(2)); }

  Sabath sabath{};
  std::string recipe{};
};

}  // namespace

TEST_CASE("check: what was accepted holds, and a change of the code does not") {
  const Gate gate;
  gate.run({"run", gate.recipe, "--seeds", "1..6", "--tag", "good"}, 0);
  const Answer proposed =
      gate.run({"baseline", "propose", "recipe=noisy,tag=good", "-o", gate.file()}, 0);
  CHECK_THAT(proposed.output, Contains("proposed from 6 run(s)") && Contains("go/loss"));
  CHECK_THAT(gate.check({"--seed", "5"}, 3).output, Contains("nobody accepted it"));
  gate.run({"baseline", "accept", gate.file(), "--by", "anna"}, 0);
  CHECK(gate.run({"baseline", "accept", gate.file()}, 2).errors.find("nothing in it is proposed") !=
        std::string::npos);
  const Answer good = gate.check({"--seed", "7"}, 0);
  CHECK_THAT(good.output, Contains("check           PASS") && Contains("accepted by anna"));
  CHECK_THAT(good.output, Contains("RESULT          PASS") && Contains("PERFORMANCE"));
  gate.says("2.0$1");
  const Answer bad = gate.check({"--seed", "7", "--json"}, 1);
  const json report = json::parse(bad.output);
  CHECK(report["verdict"] == "FAIL");
  CHECK(report["result"] == "FAIL");
  CHECK(report["performance"] == "PASS");
  CHECK_THAT(report["reason"].get<std::string>(), Contains("go/loss: 2.07 lies outside"));
  CHECK_THAT(report["groups"][0]["notes"][0].get<std::string>(), Contains("the code is not that"));
  CHECK(gate.check({"--seed", "7", "--only", "performance"}, 0).status == 0);
}

TEST_CASE("check: a slower code fails by PERFORMANCE alone") {
  const Gate gate;
  gate.accept("1..6");
  gate.says("1.0$1", "2.00$1");
  const json report = json::parse(gate.check({"--seed", "7", "--json"}, 1).output);
  CHECK(report["result"] == "PASS");
  CHECK(report["performance"] == "FAIL");
  CHECK_THAT(report["reason"].get<std::string>(), Contains("go/pace: median 2.007 s"));
  gate.check({"--seed", "7", "--only", "result"}, 0);
}

TEST_CASE("check: groups of seeds are held by the margin, and skips count against the gate") {
  const Gate gate;
  gate.accept("1..6");
  const Answer good = gate.check({"--seeds", "11..15"}, 0);
  CHECK_THAT(good.output, Contains("negligible within 0.5"));
  gate.run({"run", gate.recipe, "--seed", "1", "--tag", "mixed"}, 0);
  write_text(fs::path(gate.recipe) / "go.sh", "exit 3\n");
  gate.run({"run", gate.recipe, "--seed", "2", "--tag", "mixed"}, 1);
  const std::string junit = (gate.sabath.folder() / "j.xml").string();
  const Answer failed =
      gate.run({"check", "tag=mixed", "--baseline", gate.file(), "--junit", junit, "--json"}, 1);
  CHECK_THAT(json::parse(failed.output)["reason"].get<std::string>(),
             Contains("exited with status 3"));
  CHECK(json::parse(failed.output)["result"] == "FAIL");
  CHECK_THAT(text_of(junit), Contains("errors=\"1\"") && Contains("<error "));
  write_text(fs::path(gate.recipe) / "go.sh", "true\n");
  CHECK_THAT(gate.check({"--seed", "1", "--only", "result"}, 3).output,
             Contains("go/loss: no run has a value"));
  gate.says("NaN");
  CHECK_THAT(gate.check({"--seed", "1"}, 1).output, Contains("has nan"));
}

TEST_CASE(
    "check: a baseline without a finite value, or without a metric, is proposed with a note") {
  const Gate gate("NaN");
  gate.run({"run", gate.recipe, "--seed", "1", "--tag", "good"}, 0);
  CHECK_THAT(
      gate.run({"baseline", "propose", "recipe=noisy,tag=good", "-o", gate.file()}, 0).output,
      Contains("note: go/loss: no finite value"));
  CHECK_THAT(gate.run({"baseline", "show", gate.file()}, 0).output, Contains("no finite value"));
  write_text(fs::path(gate.recipe) / "go.sh", "true\n");
  gate.run({"run", gate.recipe, "--seed", "1", "--tag", "empty"}, 0);
  const std::string file = (gate.sabath.folder() / "empty.json").string();
  CHECK_THAT(gate.run({"baseline", "propose", "recipe=noisy,tag=empty", "-o", file}, 0).output,
             Contains("note: no metric: the entry would check nothing"));
  const std::string nowhere = (gate.sabath.folder() / "none" / "b.json").string();
  gate.run({"baseline", "propose", "recipe=noisy,tag=good", "-o", nowhere}, 16);
  gate.run({"check", "tag=good", "--junit", nowhere}, 16);
}

TEST_CASE("check: a baseline of other runs is not comparable, and says what differs") {
  const Gate gate;
  gate.accept("1..6");
  CHECK_THAT(gate.check({"--seed", "1", "--set", "rate=2"}, 4).output,
             Contains("parameter rate is 2, of the baseline 1"));
  const json accepted = gate.baseline();
  for (const char* part : {"site", "device"}) {
    json other = accepted;
    other["entries"][0]["holds_for"][part] = "elsewhere";
    gate.write(other);
    const std::string what = "the " + std::string(part) + " is '";
    CHECK_THAT(gate.check({"--seed", "1"}, 4).output, Contains(what));
    other["entries"][0]["holds_for"][part] = "*";
    gate.write(other);
    gate.check({"--seed", "1", "--only", "result"}, 0);
  }
  gate.write(accepted);
  const std::string changed = gate.sabath.shell_recipe(
      "noisy",
      "sh {recipe}/go.sh {seed} {param.rate} more",
      R"({"parameters": {"rate": {"type": "int", "default": 1}}, "metrics": {"loss": {}}})");
  CHECK_THAT(gate.run({"check", changed, "--baseline", gate.file(), "--seed", "1"}, 4).output,
             Contains("the recipe's definition is"));
  const std::string other = gate.sabath.shell_recipe("other", "true");
  CHECK_THAT(gate.run({"check", other, "--baseline", gate.file()}, 4).output,
             Contains("the recipe is 'other', of the"));
  const std::size_t runs = gate.sabath.count_runs();
  gate.check({"--seed", "1", "--set", "rate=3"}, 4);
  CHECK(gate.sabath.count_runs() == runs);  // what nothing can hold for is not run
  // One seed says nothing of another.
  const Gate one;
  one.accept("1");
  one.check({"--seed", "1", "--only", "result"}, 0);
  CHECK_THAT(one.check({"--seed", "2", "--only", "result"}, 4).output, Contains("have the seed 1"));
}

TEST_CASE("check: known failures have a last day, and when they pass it is told") {
  const Gate gate;
  gate.accept("1..6");
  json known = gate.baseline();
  known["expected_failures"] = {
      {{"metric", "go/loss"}, {"reason", "see issue 12"}, {"until", "2999-12-31"}}};
  gate.write(known);
  CHECK_THAT(gate.check({"--seed", "1"}, 0).output, Contains("of them passed although"));
  gate.says("9.0$1");
  const std::string junit = (gate.sabath.folder() / "j.xml").string();
  const Answer expected = gate.check({"--seed", "1", "--junit", junit}, 0);
  CHECK_THAT(expected.output, Contains("FAIL (known)") && Contains("see issue 12"));
  CHECK_THAT(text_of(junit), Contains("skipped=\"1\"") && Contains("expected failure: "));
  known["expected_failures"][0]["until"] = "2020-01-31";
  gate.write(known);
  CHECK_THAT(gate.check({"--seed", "1"}, 1).output, Contains("expected until 2020-01-31"));
  known["expected_failures"][0]["site"] = "elsewhere";
  known["expected_failures"][0]["until"] = "2999-12-31";
  gate.write(known);
  gate.check({"--seed", "1"}, 1);
}

TEST_CASE("check: without a baseline runs are held against one another") {
  const Gate gate;
  const std::string recipe = gate.recipe;
  CHECK_THAT(gate.run({"check", recipe, "--seed", "1", "--repeat", "3"}, 0).output,
             Contains("equal to the bit") && Contains("against one another"));
  const Answer one = gate.run({"check", recipe, "--seed", "1"}, 3);
  CHECK_THAT(one.output, Contains("--repeat 2"));
  CHECK_THAT(one.errors,
             Contains("the answer is INCONCLUSIVE at best") && Contains("1 of 1 run cannot") &&
                 Contains("hint: --repeat 2"));
  CHECK_THAT(gate.run({"check", recipe, "--seed", "1", "--repeat", "2"}, 0).errors,
             !Contains("at best"));
  // Drawn seeds differ, and runs of other parameters are not compared.
  CHECK_THAT(gate.run({"check", recipe, "--repeat", "2"}, 3).errors,
             Contains("2 of 2 runs cannot") && Contains("--seed S --repeat 2"));
  CHECK_THAT(gate.run({"check", recipe, "--seed", "1", "--sweep", "rate=1,2"}, 3).errors,
             Contains("INCONCLUSIVE at best"));
  CHECK_THAT(gate.run({"check", recipe, "--seeds", "1..3"}, 3).output,
             Contains("3 of 3 runs have a seed of their own"));
  gate.says("$(date +%N | sed 's/^0*//')");
  CHECK_THAT(gate.run({"check", recipe, "--seed", "1", "--repeat", "2"}, 1).output,
             Contains("go/loss"));
}

TEST_CASE("check: of several pairs a result has the weakest rung that holds") {
  const Gate gate;
  const fs::path loss = gate.sabath.folder() / "loss";
  gate.says("$(cat " + loss.string() + ")");
  for (const char* value : {"1.0", "1.0000000000000002", "1.000000001"}) {
    write_text(loss, value);
    gate.run({"run", gate.recipe, "--seed", "1"}, 0);
  }
  const json report = json::parse(gate.run({"check", "recipe=noisy", "--json"}, 0).output);
  const json& cases = report["groups"][0]["cases"];
  const auto found = std::find_if(
      cases.begin(), cases.end(), [](const json& one) { return one["name"] == "go/loss"; });
  REQUIRE(found != cases.end());
  CHECK((*found)["reason"] == "equal within tolerance");
}

TEST_CASE("baseline: groups that are made one are described as their newest run is") {
  const Gate gate;
  gate.run({"run", gate.recipe, "--seed", "1"}, 0);
  // As if it had run on a machine with another processor.
  const fs::path file = gate.sabath.run_directories().back() / "record.json";
  json record = json::parse(text_of(file));
  record["hosts"][0]["cpu"]["model"] = "another processor";
  record["hosts"][0]["gpus"] = json::array();
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, record.dump(2));
  json recipe = json::parse(text_of(fs::path(gate.recipe) / "recipe.json"));
  recipe["metrics"]["loss"]["margin"] = 0.75;
  write_text(fs::path(gate.recipe) / "recipe.json", recipe.dump(2));
  gate.run({"run", gate.recipe, "--seed", "2"}, 0);
  gate.run({"baseline", "propose", "recipe=noisy", "--any-device", "-o", gate.file()}, 0);
  const json baseline = gate.baseline();
  REQUIRE(baseline["entries"].size() == 1);
  CHECK(baseline["entries"][0]["runs"].size() == 2);
  const json& metrics = baseline["entries"][0]["metrics"];
  const auto loss = std::find_if(
      metrics.begin(), metrics.end(), [](const json& one) { return one["name"] == "go/loss"; });
  REQUIRE(loss != metrics.end());
  CHECK((*loss)["margin"] == 0.75);
}

TEST_CASE("baseline: the device of a run on mixed nodes is that of its report") {
  const Gate gate;
  gate.run({"run", gate.recipe, "--seed", "1"}, 0);
  const fs::path file = gate.sabath.run_directories().back() / "record.json";
  json record = json::parse(text_of(file));
  json& hosts = record["hosts"];
  hosts[0]["gpus"] = json::array();
  hosts[0]["cpu"]["model"] = "first processor";
  hosts.push_back(hosts[0]);
  hosts[1]["cpu"]["model"] = "second processor";
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, record.dump(2));
  gate.run({"baseline", "propose", "recipe=noisy", "-o", gate.file()}, 0);
  const std::string both = "first processor + second processor";
  CHECK(gate.baseline()["entries"][0]["holds_for"]["device"] == both);
  const std::string report = (gate.sabath.folder() / "r.json").string();
  gate.run({"report", "@last", "-o", report}, 0);
  CHECK(json::parse(text_of(report))["runs"][0]["device"] == both);
}

TEST_CASE("check: a comment and a badge have the verdict with its numbers") {
  const Gate gate("1.0");
  gate.accept("1");
  gate.says("1.5");
  const std::string markdown = (gate.sabath.folder() / "m.md").string();
  const std::string badge = (gate.sabath.folder() / "b.svg").string();
  gate.check({"--seed",
              "1",
              "--only",
              "result",
              "--require",
              "tolerance",
              "--markdown",
              markdown,
              "--badge",
              badge,
              "--json"},
             1);
  CHECK_THAT(text_of(markdown), Catch::StartsWith("## FAIL: "));
  CHECK_THAT(text_of(markdown), Contains("| go/loss | 1 | 1.5 | "));
  CHECK_THAT(text_of(badge), Contains("reproducible: FAIL, tolerance</title>"));
  const std::string nowhere = (gate.sabath.folder() / "none/b.svg").string();
  gate.check({"--seed", "1", "--badge", nowhere}, 16);
}

TEST_CASE("check: nothing that ran is never green") {
  const Gate gate;
  const std::string junit = (gate.sabath.folder() / "j.xml").string();
  const std::string markdown = (gate.sabath.folder() / "m.md").string();
  const Answer nothing =
      gate.run({"check", "tag=nothing", "--junit", junit, "--markdown", markdown}, 3);
  CHECK_THAT(nothing.output, Contains("INCONCLUSIVE: no run was judged"));
  CHECK_THAT(text_of(junit), Contains("errors=\"1\""));
  CHECK_THAT(text_of(markdown), Contains("INCONCLUSIVE"));
  write_text(gate.sabath.folder() / "t.csv", "host,loss\na,1\nb,1\n");
  gate.run({"import",
            (gate.sabath.folder() / "t.csv").string(),
            "--recipe",
            "noisy",
            "--metrics",
            "loss",
            "--facets",
            "host"},
           0);
  CHECK_THAT(gate.run({"check", "recipe=noisy"}, 3).output, Contains("it came from a table"));
  CHECK(gate.run({"baseline", "propose", "recipe=noisy", "-o", gate.file()}, 2).status == 2);
  CHECK_FALSE(fs::exists(gate.file()));
  // A recipe that cannot be read leaves no report of an earlier check.
  write_text(junit, "green");
  gate.run({"check", (gate.sabath.folder() / "nowhere").string(), "--junit", junit}, 10);
  CHECK_THAT(text_of(junit), Contains("the check did not finish"));
}

TEST_CASE("baseline: what was accepted is never written over, and becomes history") {
  const Gate gate;
  gate.accept("1..6");
  const std::string first = text_of(gate.file());
  gate.says("1.2$1");
  gate.run({"run", gate.recipe, "--seeds", "1..6", "--tag", "better"}, 0);
  const std::vector<std::string> propose{
      "baseline", "propose", "recipe=noisy,tag=better", "-o", gate.file()};
  const Answer changed = gate.run(propose, 0);
  CHECK_THAT(changed.output, Contains("1.035") && Contains("1.235"));
  CHECK_THAT(changed.output, Contains("PASS: mean 1.235, of the baseline 1.035"));
  const std::string second = text_of(gate.file());
  gate.run(propose, 0);
  CHECK(text_of(gate.file()) == second);  // the same runs make the same text
  CHECK(gate.baseline()["entries"].size() == 2);
  CHECK(gate.baseline()["entries"][0] == json::parse(first)["entries"][0]);
  gate.run({"baseline", "accept", gate.file()}, 0);
  CHECK(gate.baseline()["entries"][0] == json::parse(first)["entries"][0]);
  const std::string drift = gate.run({"baseline", "show", gate.file(), "--drift"}, 0).output;
  CHECK_THAT(drift, Contains("accepted    2 time(s)") && Contains("+0.2"));
  CHECK_THAT(gate.run({"baseline", "show", gate.file()}, 0).output,
             Contains("1 accepted before, as history"));
  gate.check({"--seed", "3", "--only", "result"}, 0);
  gate.says("1.0$1");
  gate.check({"--seed", "3", "--only", "result"}, 1);
}

TEST_CASE("baseline: files that are none are refused with their place, and stay as they are") {
  const Gate gate;
  gate.accept("1..5");
  json tampered = gate.baseline();
  tampered["entries"][0]["metrics"][0]["mean"] = 7;
  gate.write(tampered);
  const std::string text = text_of(gate.file());
  CHECK_THAT(gate.check({"--seed", "1"}, 2).errors,
             Contains("/entries/0/metrics/0: 'mean' is 7") && Contains("reviewed"));
  CHECK(gate.run({"baseline", "propose", "recipe=noisy", "-o", gate.file()}, 2).status == 2);
  CHECK(text_of(gate.file()) == text);
  CHECK(gate.run({"baseline", "show", gate.file() + ".not"}, 10).status == 10);
  CHECK_THAT(gate.run({"check", "recipe=noisy", "--seed", "1"}, 2).errors,
             Contains("options for new runs cannot be used"));
  CHECK(gate.run({"check", "@last", "--require", "exact"}, 2).status == 2);
  CHECK(gate.run({"baseline"}, 2).status == 2);
}

TEST_CASE("baseline: an outlier is told, and does not widen the bounds") {
  const Gate gate("$([ $1 = 4 ] && echo 9 || echo 1.0$1)");
  gate.run({"run", gate.recipe, "--seeds", "1..7"}, 0);
  const Answer proposed =
      gate.run({"baseline", "propose", "recipe=noisy", "-o", gate.file(), "--any-device"}, 0);
  CHECK_THAT(proposed.output, Contains("go/loss of noisy-") && Contains("lies apart: 9"));
  const json metrics = gate.baseline()["entries"][0]["metrics"];
  REQUIRE(metrics.size() == 1);  // no times for any device
  CHECK(metrics[0]["bounds"]["high"].get<double>() < 2);
  CHECK(metrics[0]["values"][3] == 9);
}

TEST_CASE("cli: check and compare name a metric that differs and is not declared") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "silent", "sh {recipe}/go.sh {output}", "{}", R"({"outputs": ["a.txt"]})");
  write_text(fs::path(recipe) / "go.sh",
             "echo same > $1/a.txt\n"
             "echo \"{\\\"step\\\": 1, \\\"loss\\\": 1$(date +%N)}\" >> $SABATH_METRICS\n");
  const Answer ran = sabath({"run", recipe, "--seed", "1", "--repeat", "2"});
  INFO(ran.output + ran.errors);
  REQUIRE(ran.status == 0);
  const std::string note = "differs and is not judged, since the recipe does not declare it";
  const Answer compared = sabath({"compare", "@last~1", "@last"});
  CHECK(compared.status == 0);
  CHECK_THAT(compared.output, Contains("loss " + note));
  const Answer checked = sabath({"check", "recipe=silent"});
  CHECK(checked.status == 0);
  CHECK_THAT(checked.output, Contains("loss " + note));
}

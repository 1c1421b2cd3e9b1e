// PASS only for equal values: whole numbers of 64 bits, and nothing at all.
#include "support/answers.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* one = "1839201938472018101";
constexpr const char* other = "1839201938472018102";

/// Reports a checksum in three ways.
std::string summing(const Sabath& sabath) {
  return sabath.shell_recipe(
      "summing",
      "echo '{{\"step\": 1, \"sum\": {param.sum}}}' >> $SABATH_METRICS; echo 'key={param.sum}';"
      "printf 'column\\n{param.sum}\\n' > t.csv",
      R"({"parameters": {"sum": {"type": "string", "default": "0", "affects": "execution"}},
          "require": "bitwise",
          "metrics": {"sum": {"from": "jsonl"}, "key": {"from": "key_value"},
                      "column": {"from": {"kind": "csv", "file": "t.csv"}}}})");
}

std::string run(const Sabath& sabath, const std::string& recipe, const std::string& sum) {
  const Answer answer = sabath({"run", recipe, "--seed", "1", "--set", "sum=" + sum});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  return json::parse(sabath.newest())["run_id"];
}

std::string written(const Sabath& sabath, const std::string& name, const std::string& text) {
  const fs::path path = sabath.folder() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

}  // namespace

TEST_CASE("cli: checksums that one double is nearest to are different") {
  const Sabath sabath;
  const std::string recipe = summing(sabath);
  const std::string a = run(sabath, recipe, one);
  const std::string b = run(sabath, recipe, other);
  const std::string again = run(sabath, recipe, one);
  CHECK(sabath({"compare", a, again}).status == 0);
  const Answer compared = sabath({"compare", a, b, "--json"});
  CHECK(compared.status == 1);
  const json found = json::parse(compared.output);
  CHECK(found["result"] == "FAIL");
  REQUIRE(found["metrics"].size() == 3);
  for (const json& metric : found["metrics"]) {
    CHECK(metric["different"] == 1);
    CHECK(metric["first_bitwise"]["whole_a"] == one);
    CHECK(metric["first_bitwise"]["whole_b"] == other);
  }
  CHECK_THAT(sabath({"show", a}).output, Contains(one));
  const json shown = json::parse(sabath({"show", a, "--json"}).output);
  for (const json& metric : shown["metrics"])
    CHECK(metric["whole"]["last"] == one);
  const json groups = json::parse(
      sabath({"compare", "recipe=summing", "--by", "sum", "--require", "bitwise", "--json"})
          .output);
  CHECK(groups["result"] == "FAIL");
  CHECK(groups["metrics"][0]["distinct"] == 2);
  for (const char* name : {"report.csv", "report.md", "report.html"}) {
    INFO(name);
    const std::string report = (sabath.folder() / name).string();
    done(sabath, {"report", "recipe=summing", "--output", report});
    const std::string table = sabath::base::read_file(report);
    CHECK_THAT(table, Contains(one) && Contains(other));
    CHECK_THAT(table, !Contains("1839201938472018200") && !Contains("1.8392019384720182e+18, "));
  }
  const std::string pair = (sabath.folder() / "pair.md").string();
  done(sabath, {"report", a, b, "--output", pair});
  CHECK_THAT(sabath::base::read_file(pair), Contains(one) && Contains(other));
}

TEST_CASE("cli: repro and explain see a whole number that differs by one") {
  const Sabath sabath;
  write_text(sabath.folder() / "added", "1");
  const std::string recipe = sabath.shell_recipe(
      "counting",
      "added=$(cat " + (sabath.folder() / "added").string() +
          "); echo '{{\"step\": 1, \"sum\": '$((9007199254740992 + added + {param.more}))'}}'"
          " >> $SABATH_METRICS",
      R"({"parameters": {"more": {"type": "int", "default": 0, "affects": "execution"},
                         "decoy": {"type": "int", "default": 1, "affects": "execution"}},
          "require": "bitwise", "metrics": {"sum": {"from": "jsonl"}}})");
  done(sabath, {"run", recipe, "--seed", "1", "--tag", "a"});
  done(sabath,
       {"run", recipe, "--seed", "1", "--tag", "b", "--set", "more=-1", "--set", "decoy=2"});
  const json found = answered(sabath, {"explain", "tag=a", "tag=b"});
  INFO(found.dump(1));
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == json{"parameter more"});
  done(sabath, {"repro", "tag=a"});
  write_text(sabath.folder() / "added", "0");
  CHECK(sabath({"repro", "tag=a"}).status == 1);
}

TEST_CASE("cli: a baseline of whole numbers tells one that is off by one") {
  const Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("counting",
                          "sh {recipe}/go.sh",
                          R"({"require": "bitwise", "metrics": {"sum": {"from": "jsonl"}}})");
  const auto says = [&](const std::string& sum) {
    write_text(fs::path(recipe) / "go.sh",
               "echo '{\"step\": 1, \"sum\": " + sum + "}' >> $SABATH_METRICS\n");
  };
  const std::string file = (sabath.folder() / "baseline.json").string();
  says(one);
  done(sabath, {"run", recipe, "--seeds", "1..3", "--tag", "good"});
  done(sabath, {"baseline", "propose", "tag=good", "-o", file});
  done(sabath, {"baseline", "accept", file, "--by", "anna"});
  CHECK_THAT(sabath::base::read_file(file), Contains(one));
  const auto verdict = [&] {
    return answered(
        sabath, {"check", recipe, "--baseline", file, "--seeds", "1..3", "--require", "bitwise"});
  };
  CHECK(verdict()["verdict"] == "PASS");
  says(other);
  const json failed = verdict();
  CHECK(failed["verdict"] == "FAIL");
  CHECK(failed["status"] == 1);
  CHECK_THAT(failed.dump(), Contains(one) && Contains(other));
}

TEST_CASE("cli: a baseline of whole numbers has their digits, and check says what compare says") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "odd",
      "echo '{{\"step\": 1, \"sum\": '$((1839201938472018102 + $SABATH_SEED % 2))'}}' >> "
      "$SABATH_METRICS",
      R"({"metrics": {"sum": {}}})");
  const std::string file = (sabath.folder() / "baseline.json").string();
  done(sabath, {"run", recipe, "--seeds", "1..6", "--tag", "good"});
  done(sabath, {"baseline", "propose", "tag=good", "-o", file});
  done(sabath, {"baseline", "accept", file, "--by", "anna"});
  const json metric = json::parse(sabath::base::read_file(file))["entries"][0]["metrics"][0];
  CHECK(metric["min"].dump() == "1839201938472018102");
  CHECK(metric["max"].dump() == "1839201938472018103");
  CHECK(metric["sd"] > 0.5);
  CHECK_THAT(done(sabath, {"baseline", "show", file}).output,
             Contains("1839201938472018102") && Contains("1839201938472018103"));
  const json checked =
      answered(sabath, {"check", recipe, "--baseline", file, "--seeds", "7..10", "--tag", "new"});
  CHECK(checked["verdict"] == "INCONCLUSIVE");
  const json compared = answered(sabath, {"compare", "tag=good", "tag=new"});
  CHECK(compared["result"] == "INCONCLUSIVE");
  for (const json& answer : {checked, compared})
    CHECK_THAT(answer.dump(), Contains("2 different whole numbers are nearest to one double"));
}

TEST_CASE("cli: two files without a value are INCONCLUSIVE, equal or not") {
  const Sabath sabath;
  const auto verdict = [&](const std::string& name, const std::string& a, const std::string& b) {
    const Answer answer =
        sabath({"compare", written(sabath, "a-" + name, a), written(sabath, "b-" + name, b)});
    INFO(name << ": " << answer.output << answer.errors);
    return answer.status;
  };
  constexpr int inconclusive = 3;
  CHECK(verdict("x.csv", "a,b\n", "a,b\n") == inconclusive);
  CHECK(verdict("x.csv", "a,b\n1,2\n", "a,b\n1,2\n") == 0);
  CHECK(verdict("x.bin", "", "") == inconclusive);
  CHECK(verdict("x.bin", "1", "1") == 0);
  CHECK(verdict("x.tar", std::string(1024, '\0'), std::string(1024, '\0')) == inconclusive);
  const std::string zip = "PK\5\6" + std::string(18, '\0');
  CHECK(verdict("x.zip", zip, zip) == inconclusive);
  CHECK(verdict("x.npz", zip, zip) == inconclusive);
}

TEST_CASE("cli: outputs without a value are no agreement") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe("hollow",
                                                 "echo 'a,b' > {output}/x.csv; : > {output}/x.bin",
                                                 "{}",
                                                 R"({"outputs": ["x.csv", "x.bin"]})");
  for (int i = 0; i < 2; ++i)
    REQUIRE(sabath({"run", recipe, "--seed", "1"}).status == 0);
  const Answer answer = sabath({"compare", "@last", "@last~1"});
  CHECK(answer.status == 3);
  CHECK_THAT(answer.output,
             Contains("INCONCLUSIVE") && Contains("x.csv holds no value") &&
                 Contains("x.bin holds no value"));
}

TEST_CASE("cli: values that only begin alike, or are written twice, are no agreement") {
  const Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("alike",
                          "cat {recipe}/out; cp {recipe}/x.jsonl {recipe}/x.csv .",
                          R"({"require": "bitwise",
          "metrics": {"text": {"from": "key_value"}, "event": {"from": "mllog"},
                      "line": {"from": {"kind": "jsonl", "file": "x.jsonl"}},
                      "cell": {"from": {"kind": "csv", "file": "x.csv"}}}})");
  const auto writes = [&](const std::string& text,
                          const std::string& event,
                          const std::string& line,
                          const std::string& cells) {
    write_text(fs::path(recipe) / "out", "text=" + text + "\n:::MLLOG " + event + "\n");
    write_text(fs::path(recipe) / "x.jsonl", line + "\n");
    write_text(fs::path(recipe) / "x.csv", cells + "\n");
    return sabath({"run", recipe, "--seed", "1"});
  };
  const Answer good = writes("0.5",
                             R"({"key": "event", "value": 1})",
                             R"({"step": 1, "line": 1})",
                             "step,cell\n9007199254740993.0,1");
  INFO(good.output + good.errors);
  REQUIRE(good.status == 0);
  REQUIRE(writes("0.5",
                 R"({"key": "event", "value": 1})",
                 R"({"step": 1, "line": 1})",
                 "step,cell\n9007199254740992.0,1")
              .status == 0);
  CHECK(sabath({"compare", "@last~1", "@last"}).status != 0);
  const Answer bad = writes("1/2",
                            R"({"key": "event", "value": 1, "value": 2})",
                            R"({"step": 1, "line": 1e-400})",
                            "cell,cell\n1,2");
  CHECK(bad.status == 1);
  const std::string record = sabath.newest();
  CHECK_THAT(record, Contains("3 metrics line(s)") && Contains("'line' is too small"));
  CHECK_THAT(record, Contains("the first is stdout.log:1: '1/2'"));
}

TEST_CASE("cli: lists do not show a rounded whole number as exact, nor select by it") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "sums",
      R"(echo "{{\"sum\": {param.d}}}" >> $SABATH_METRICS)",
      R"({"parameters": {"d": {"type": "string", "default": "0"}}, "metrics": {"sum": {}}})");
  done(sabath, {"run", recipe, "--sweep", "d=9007199254740993,9007199254740992", "--seed", "1"});
  CHECK_THAT(done(sabath, {"list", "runs", "--columns", "sum"}).output,
             Contains("9007199254740992"));
  const Answer refused = sabath({"rm", "sum=9007199254740993", "--dry-run", "--force"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("beyond 2^53"));
  done(sabath, {"run", recipe, "--set", "d=9007199254740995", "--seed", "1"});
  CHECK_THAT(done(sabath, {"list", "runs", "@last", "--columns", "sum"}).output,
             Contains("about 9007199254740996"));
}

TEST_CASE("cli: a column of runs with two units names both") {
  const Sabath sabath;
  for (const std::string unit : {"m", "km"}) {
    const std::string recipe =
        sabath.shell_recipe("lengths",
                            R"(echo '{{"length": 3}}' >> $SABATH_METRICS)",
                            R"({"metrics": {"length": {"unit": ")" + unit + R"("}}})");
    done(sabath, {"run", recipe, "--seed", "1"});
  }
  CHECK_THAT(done(sabath, {"list", "runs", "--columns", "length"}).output,
             Contains("length [km or m]"));
  CHECK_THAT(done(sabath, {"list", "runs", "@last", "--columns", "length"}).output,
             Contains("length [km]"));
}

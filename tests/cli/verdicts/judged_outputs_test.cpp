// Outputs in checks and groups: judged, or said not to be.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Runs whose loss depends on the seed, and whose output depends on `x`.
class Tables {
 public:
  Tables() {
    recipe = sabath.shell_recipe(
        "tables",
        R"(printf 'w\n{param.x}\n' > {output}/w.csv; echo "{{\"loss\": 1.{seed}}}" >> $SABATH_METRICS)",
        R"({"deterministic": true,
            "parameters": {"x": {"type": "float", "default": 1, "affects": "execution"}},
            "metrics": {"loss": {"better": "lower", "margin": 1}}})",
        R"({"outputs": ["w.csv"]})");
    done(sabath, {"run", recipe, "--sweep", "x=1,99", "--seeds", "1..3"});
  }
  json check(const std::string& selection, const std::vector<std::string>& further = {}) const {
    std::vector<std::string> words{"check", selection, "--baseline", file()};
    words.insert(words.end(), further.begin(), further.end());
    return answered(sabath, words);
  }
  std::string file() const { return (sabath.folder() / "b.json").string(); }

  Sabath sabath{};
  std::string recipe{};
};

std::string notes_of(const json& report) {
  std::string text;
  for (const json& note : report["groups"][0]["notes"])
    text += note.get<std::string>() + "\n";
  return text;
}

}  // namespace

TEST_CASE("check: outputs are held against the baseline's run of the same seed") {
  const Tables tables;
  done(tables.sabath, {"baseline", "propose", "recipe=tables,x=1", "-o", tables.file()});
  done(tables.sabath, {"baseline", "accept", tables.file(), "--by", "anna"});
  const json differs = tables.check("recipe=tables,x=99", {"--require", "bitwise"});
  CHECK(differs["verdict"] == "FAIL");
  CHECK_THAT(differs["reason"].get<std::string>(), Contains("w.csv"));
  CHECK(tables.check("recipe=tables,x=99")["verdict"] == "FAIL");  // deterministic

  done(tables.sabath, {"run", tables.recipe, "--seeds", "1..3", "--tag", "again", "--fresh"});
  const json same = tables.check("tag=again", {"--require", "bitwise"});
  CHECK(same["verdict"] == "PASS");
  CHECK_THAT(notes_of(same), !Contains("not judged"));

  done(tables.sabath, {"rm", "recipe=tables,x=1,not tag=again", "--force", "--yes"});
  const json gone = tables.check("tag=again", {"--require", "bitwise"});
  CHECK(gone["verdict"] == "PASS");
  CHECK_THAT(notes_of(gone), Contains("outputs of 3 runs are not judged: go/w.csv"));
}

TEST_CASE("compare: groups say that outputs are not judged, and which differ at one seed") {
  const Tables tables;
  const Answer answer = tables.sabath({"compare", "recipe=tables,x=1", "recipe=tables,x=99"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output,
             Contains("outputs are not judged in groups: go/w.csv") &&
                 Contains("at the same seed the bytes differ: go/w.csv"));
  CHECK_THAT(answer.output, Contains("the same value for each of 3 seeds"));
}

TEST_CASE("check: an output that is equal in one pair and differs in another has no PASS") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "mixed",
      R"(printf 'w\n{param.x}\n' > {output}/w.csv)",
      R"({"parameters": {"x": {"type": "float", "default": 1, "affects": "execution"}}})",
      R"({"outputs": ["w.csv"]})");
  done(sabath, {"run", recipe, "--seed", "1"});
  done(sabath, {"run", recipe, "--seed", "1"});
  done(sabath, {"run", recipe, "--seed", "1", "--set", "x=2"});
  const json report = answered(sabath, {"check", "recipe=mixed"});
  CHECK(report["verdict"] == "FAIL");
  for (const json& one : report["groups"][0]["cases"]) {
    const bool is_output = one["kind"] == "result";
    CHECK((!is_output || one["verdict"] == "FAIL"));
  }
}

TEST_CASE("check: an empty file marks a folder of outputs that has others") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "marked",
      R"(mkdir {output}/d; : > {output}/d/_SUCCESS; printf 'w\n1\n' > {output}/d/w.csv)",
      "{}",
      R"({"outputs": ["d/"]})");
  CHECK(sabath({"check", recipe, "--seed", "1", "--repeat", "2", "--require", "bitwise"}).status ==
        0);
  const std::string hollow = sabath.shell_recipe(
      "hollow", R"(mkdir {output}/d; : > {output}/d/_SUCCESS)", "{}", R"({"outputs": ["d/"]})");
  CHECK(sabath({"check", hollow, "--seed", "1", "--repeat", "2"}).status == 3);
}

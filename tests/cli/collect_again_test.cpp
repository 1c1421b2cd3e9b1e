// `sabath collect`: metrics of runs that are over, read with other patterns.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Prints what its recipe looks for nowhere.
std::string chatty(const Sabath& sabath) {
  return sabath.shell_recipe("chatty",
                             "echo loss=0.5 acc=0.25; echo loss=0.125 acc=0.75",
                             R"({"metrics": {"loss": {"from": "key_value"}}})");
}

std::string patterns(const Sabath& sabath, const std::string& metrics) {
  const auto file = sabath.folder() / "patterns.json";
  write_text(file, R"({"schema": 1, "metrics": )" + metrics + "}");
  return file.string();
}

constexpr const char* accuracy = R"({"acc": {"from": "key_value", "unit": "1"}})";

}  // namespace

TEST_CASE("cli: an old run's metrics are read with other patterns, and its record stays as it is") {
  Sabath sabath;
  REQUIRE(sabath({"run", chatty(sabath)}).status == 0);
  const auto run = sabath.run_directories().back();
  const std::string before = text_of(run / "record.json");
  const Answer answer = sabath({"collect", "@last", "--with", patterns(sabath, accuracy)});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  CHECK_THAT(answer.output, Contains("collection    1") && Contains("go/acc") && Contains("0.75"));
  CHECK(text_of(run / "record.json") == before);
  CHECK(text_of(run / "collect/1/patterns.json") == text_of(sabath.folder() / "patterns.json"));
  CHECK(std::filesystem::exists(run / "collect/1/series.h5"));
  const json shown = json::parse(sabath({"--json", "show", "@last"}).output);
  REQUIRE(shown["metrics"].size() == 1);
  CHECK(shown["metrics"][0]["name"] == "acc");
  CHECK_THAT(sabath({"show", "@last"}).output, Contains("collection    1, made"));
}

TEST_CASE(
    "cli: collecting without a document reads with the run's own patterns, and is numbered on") {
  Sabath sabath;
  REQUIRE(sabath({"run", chatty(sabath)}).status == 0);
  CHECK(sabath({"collect", "@last", "--with", patterns(sabath, accuracy)}).status == 0);
  const Answer answer = sabath({"--json", "collect", "@last"});
  REQUIRE(answer.status == 0);
  const json collection = json::parse(answer.output);
  CHECK(collection["number"] == 2);
  CHECK(collection["metrics"][0]["name"] == "loss");
  CHECK(collection["metrics"][0]["last"] == 0.125);
}

TEST_CASE("cli: runs whose metric was found in two ways are not compared") {
  Sabath sabath;
  const auto folder = chatty(sabath);
  REQUIRE(sabath({"run", folder, "--seed", "1", "--repeat", "2"}).status == 0);
  REQUIRE(sabath({"compare", "@last~1", "@last"}).status == 0);
  const auto other =
      patterns(sabath, R"x({"loss": {"from": {"kind": "regex", "pattern": "loss=(\\S+)"}}})x");
  CHECK(sabath({"collect", "@last", "--with", other}).status == 0);
  const Answer refused = sabath({"compare", "@last~1", "@last"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors,
             Contains("metric 'loss' was found in another way") && Contains("collection 1") &&
                 Contains("as recorded"));
  REQUIRE(sabath({"collect", "@last", "--with", patterns(sabath, accuracy)}).status == 0);
  CHECK(sabath({"compare", "@last~1", "@last"}).status == 2);
  REQUIRE(sabath({"collect", "@last", "--with", other}).status == 0);
  CHECK(sabath({"collect", "@last~1", "--with", other}).status == 0);
  CHECK(sabath({"compare", "@last~1", "@last"}).status == 0);
}

TEST_CASE(
    "cli: a collection that cannot be read, or of a run that is none, leaves nothing behind") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("torn", "printf 'a,b\\n1\\n' > t.csv")}).status == 0);
  const auto table = patterns(sabath, R"({"a": {"from": {"kind": "csv", "file": "t.csv"}}})");
  const Answer torn = sabath({"collect", "@last", "--with", table});
  CHECK(torn.status == 2);
  CHECK_THAT(torn.errors, Contains("t.csv:2: it has 1 columns"));
  const Answer wrong =
      sabath({"collect", "@last", "--with", patterns(sabath, R"({"a": {"from": "regex"}})")});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.errors, Contains("patterns.json:/metrics/a/from: a regular expression needs"));
  const auto run = sabath.run_directories().back();
  CHECK(std::filesystem::is_empty(run / "collect"));
  CHECK(sabath({"collect", "nosuchrun"}).status == 10);
}

TEST_CASE("cli: the catalog made anew knows the newest collection") {
  Sabath sabath;
  REQUIRE(sabath({"run", chatty(sabath)}).status == 0);
  CHECK(sabath({"collect", "@last", "--with", patterns(sabath, accuracy)}).status == 0);
  CHECK(sabath({"catalog", "reindex"}).status == 0);
  const json shown = json::parse(sabath({"--json", "show", "@last"}).output);
  CHECK(shown["metrics"][0]["name"] == "acc");
}

TEST_CASE("cli: a repetition of a run is collected as that was, and compared") {
  Sabath sabath;
  REQUIRE(sabath({"run", chatty(sabath), "--seed", "1"}).status == 0);
  CHECK(sabath({"collect", "@last", "--with", patterns(sabath, accuracy)}).status == 0);
  const Answer answer = sabath({"repro", "@last"});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("go/acc") || Contains("PASS"));
  const json shown = json::parse(sabath({"--json", "show", "@last"}).output);
  CHECK(shown["metrics"][0]["name"] == "acc");
}

TEST_CASE("cli: a finished run whose status a power cut took is collected from and has its logs") {
  Sabath sabath;
  REQUIRE(sabath({"run", chatty(sabath)}).status == 0);
  const auto run = sabath.run_directories().back();
  if (GENERATE(true, false)) {
    std::filesystem::remove(run / "status.json");
  } else {
    write_text(run / "status.json", "");
  }
  const Answer logs = sabath({"logs", "@last"});
  CHECK(logs.status == 0);
  CHECK_THAT(logs.output, Contains("loss=0.125 acc=0.75"));
  const Answer answer = sabath({"collect", "@last", "--with", patterns(sabath, accuracy)});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("go/acc"));
}

TEST_CASE("cli: collections that cannot be listed are no run without collections") {
  Sabath sabath;
  REQUIRE(sabath({"run", chatty(sabath)}).status == 0);
  REQUIRE(sabath({"run", chatty(sabath)}).status == 0);
  write_text(sabath.run_directories().back() / "collect", "not a folder");
  const Answer answer = sabath({"compare", "@last~1", "@last"});
  CHECK(answer.status == 16);
  CHECK_THAT(answer.errors, Contains("collect: cannot be listed"));
}

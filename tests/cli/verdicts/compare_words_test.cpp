// What `sabath compare` says of code and environment that differ.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* first_script =
    "# one\necho '{\"step\": 1, \"loss\": 1.5}' >> $SABATH_METRICS\n";
constexpr const char* second_script =
    "# one\necho '{\"step\": 1, \"loss\": 2.5}' >> $SABATH_METRICS\nexit 0\n";

/// A run of the script, and one of it changed, with a file more and a file less.
std::string two_runs(const Sabath& sabath, const std::string& layers = "[]") {
  const std::string folder = sabath.recipe("worded", R"({"schema": 1, "name": "worded",
    "environment": {"layers": )" + layers + R"(},
    "stages": [{"name": "go", "run": ["sh", "{code}/train.sh"]}],
    "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  const fs::path code = fs::path(folder) / "code";
  fs::create_directories(code);
  write_text(code / "train.sh", first_script);
  write_text(code / "old.txt", "gone\n");
  write_text(code / "numbers.bin", std::string("\0\1", 2));
  REQUIRE(sabath({"run", folder, "--seed", "1"}).status == 0);
  write_text(code / "train.sh", second_script);
  write_text(code / "new.txt", "password=correcthorsebattery\n");
  write_text(code / "numbers.bin", std::string("\0\2", 2));
  fs::remove(code / "old.txt");
  REQUIRE(sabath({"run", folder, "--seed", "1"}).status == 0);
  return folder;
}

json compared(const Sabath& sabath, const std::string& a, const std::string& b) {
  const Answer answer = sabath({"compare", a, b, "--json"});
  INFO(answer.errors);
  return json::parse(answer.output);
}

json file_of(const json& comparison, const std::string& path) {
  for (const json& file : comparison["code"]) {
    if (file["path"] == path) return file;
  }
  return {};
}

}  // namespace

TEST_CASE("cli: compare shows the diff of the code, and from the other side its mirror image") {
  const Sabath sabath;
  two_runs(sabath);
  const Answer text = sabath({"compare", "@last~1", "@last"});
  CHECK(text.status == 1);
  CHECK_THAT(text.output, Contains("code/train.sh: changed, 2 lines added, 1 line removed"));
  CHECK_THAT(text.output, Contains("+echo '{\"step\": 1, \"loss\": 2.5}'") && Contains("+exit 0"));
  CHECK_THAT(text.output, Contains("code/old.txt: removed, 1 line removed"));
  CHECK_THAT(text.output, Contains("code/numbers.bin: changed (no text: 2 bytes in A, 2 in B)"));
  CHECK_THAT(text.output, !Contains("correcthorse") && !Contains("code: tree"));
  const json forth = compared(sabath, "@last~1", "@last");
  CHECK(forth["code"].size() == 4);
  CHECK(forth["code_note"] == "");
  CHECK(file_of(forth, "code/new.txt")["change"] == "added");
  const json back = compared(sabath, "@last", "@last~1");
  CHECK(back["result"] == forth["result"]);
  CHECK(file_of(back, "code/new.txt")["change"] == "removed");
  CHECK(file_of(back, "code/train.sh")["added"] == 1);
  CHECK(file_of(back, "code/train.sh")["removed"] == 2);
  const std::string page = (sabath.folder() / "both.md").string();
  REQUIRE(sabath({"report", "recipe=worded", "-o", page}).status == 0);
  CHECK_THAT(text_of(page), Contains("Code, code/train.sh: changed") && Contains("+exit 0"));
}

TEST_CASE("cli: compare says why there is no diff, and compares the documents instead") {
  const Sabath sabath;
  const std::string folder = two_runs(sabath);
  const fs::path kept = sabath.run_directories().back() / "code.tar.gz";
  SECTION("the code that a run kept is gone") {
    fs::remove(kept);
    const json found = compared(sabath, "@last~1", "@last");
    CHECK(found["result"] == "FAIL");
    CHECK(found["code"].empty());
    CHECK_THAT(found["code_note"].get<std::string>(),
               Contains(sabath.run_directories().back().filename().string() +
                        " has lost the code that it kept"));
    CHECK_THAT(sabath({"compare", "@last~1", "@last"}).output,
               Contains("note: ") && Contains("code: tree"));
  }
  SECTION("it is another's") {
    fs::remove(kept);
    fs::copy_file(sabath.run_directories().front() / "code.tar.gz", kept);
    const json found = compared(sabath, "@last~1", "@last");
    CHECK(found["code"].empty());
    CHECK_THAT(found["code_note"].get<std::string>(), Contains("changed since"));
  }
  SECTION("it never kept any, and its document changed") {
    write_text(fs::path(folder) / "large", std::string(5U << 20U, 'x'));
    sabath.recipe("worded", R"({"schema": 1, "name": "worded", "environment": {"layers": []},
      "stages": [{"name": "go", "run": ["sh", "{code}/train.sh", "more"]}],
      "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
    REQUIRE(sabath({"run", folder, "--seed", "1"}).status == 0);
    const json found = compared(sabath, "@last~1", "@last");
    CHECK(found["result"] == "NOT-COMPARABLE");
    CHECK_THAT(found["code_note"].get<std::string>(), Contains("kept no code"));
    REQUIRE(found["code"].size() == 1);
    CHECK(found["code"][0]["path"] == "recipe.json");
    CHECK_THAT(found["code"][0]["diff"].get<std::string>(), Contains("more"));
  }
}

TEST_CASE("cli: compare says in words what differs in the environment") {
  const Sabath sabath;
  for (const char* flag : {"1", "2"}) {
    const std::string folder = sabath.recipe("flags",
                                             R"({"schema": 1, "name": "flags",
      "environment": {"layers": [{"kind": "host", "name": "tools", "commands": ["sh"],
                                  "variables": {"MODE": ")" +
                                                 std::string(flag) + R"("}}]},
      "stages": [{"name": "go", "run": ["sh", "-c", "echo '{{\"step\": 1, \"loss\": 1}}' >> $SABATH_METRICS"]}],
      "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
    REQUIRE(sabath({"run", folder, "--seed", "1"}).status == 0);
  }
  const Answer text = sabath({"compare", "@last~1", "@last", "--across", "recipe"});
  CHECK(text.status == 0);
  CHECK_THAT(text.output, Contains("layer 'tools': $MODE is '1' in A, '2' in B"));
  CHECK_THAT(text.output, !Contains("tools.key"));
}

TEST_CASE("cli: where steps begin anew each epoch, equal runs show no course of differences") {
  const Sabath sabath;
  const std::string folder = sabath.recipe("again", R"json({"schema": 1, "name": "again",
      "environment": {"layers": []},
      "stages": [{"name": "go", "run": ["sh", "-c",
        "for v in 3 2 1 0.5; do echo step 0 loss $v; echo step 1 loss $v; done; echo step 0 loss $SABATH_SEED"]}],
      "metrics": {"loss": {"from": {"kind": "regex",
        "pattern": "step (?<step>[0-9]+) loss (?<loss>[0-9.]+)"}}}})json");
  for (const char* seed : {"7", "7", "8"})
    REQUIRE(sabath({"run", folder, "--seed", seed}).status == 0);
  const Answer equal = sabath({"compare", "@last~2", "@last~1"});
  CHECK(equal.status == 0);
  CHECK_THAT(equal.output, !Contains("relative difference"));
  const Answer other = sabath({"compare", "@last~1", "@last"});
  CHECK(other.status == 1);
  CHECK_THAT(other.output, Contains("relative difference"));
}

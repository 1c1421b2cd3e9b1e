// Parameters from, and in, a benchmark's own file; parameters that are lists.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string uno(const Sabath& sabath) {
  const std::string folder = sabath.recipe("uno", R"({
    "schema": 1, "name": "uno", "environment": {"layers": []},
    "parameters": {"widths": {"type": "list", "of": "int", "default": [8, 4], "min": 1},
                   "rate": {"type": "float", "default": 0.5}},
    "parameter_file": {"file": "uno.txt", "format": "ini",
                       "keys": {"widths": "P/dense", "rate": "P/learning_rate"}},
    "stages": [{"name": "go", "cache": true, "outputs": ["read.txt"],
                "run": {"shell": "cat {parameters} > {output}/read.txt; echo {param.widths} >> {output}/read.txt"}}]})");
  write_text(fs::path(folder) / "uno.txt", "# usual\n[P]\ndense = [8, 4]\nlearning_rate = 0.5\n");
  return folder;
}

std::string read_by_newest(const Sabath& sabath) {
  return text_of(sabath.run_directories().back() / "outputs/go/read.txt");
}

}  // namespace

TEST_CASE("cli: a run reads a benchmark's own parameter file, and its code reads one") {
  const Sabath sabath;
  const std::string folder = uno(sabath);
  done(sabath, {"run", folder});
  CHECK(read_by_newest(sabath) == "# usual\n[P]\ndense = [8, 4]\nlearning_rate = 0.5\n8,4\n");

  const fs::path mine = sabath.folder() / "mine.txt";
  write_text(mine, "[P]\ndense = [16]\nlearning_rate = 0.25\n");
  done(sabath, {"run", folder, "--parameters", mine.string(), "--set", "rate=0.125"});
  CHECK(read_by_newest(sabath) == "# usual\n[P]\ndense = [16]\nlearning_rate = 0.125\n16\n");
  const json record = json::parse(sabath.newest());
  CHECK(record["parameters"]["widths"] == json::array({16}));
  CHECK(record["parameters"]["rate"] == 0.125);
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("widths = 16"));

  done(sabath, {"run", folder, "--set", "widths=16", "--set", "rate=0.125"});
  CHECK(json::parse(sabath.newest())["stages"][0]["state"] == "reused");
  done(sabath, {"repro", "@last"});

  write_text(mine, "[P]\ndence = [16]\n");
  const Answer wrong = sabath({"run", folder, "--parameters", mine.string()});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.errors, Contains("'P/dence' is unknown") && Contains("did you mean 'P/dense'?"));
  CHECK(sabath({"run", folder, "--parameters", (sabath.folder() / "gone").string()}).status == 10);
}

TEST_CASE("cli: a list is set, swept, selected and refused") {
  const Sabath sabath;
  const std::string folder = uno(sabath);
  done(sabath, {"run", folder, "--sweep", "widths=1,2;3", "--seed", "1"});
  CHECK(sabath.count_runs() == 2);
  CHECK_THAT(done(sabath, {"list", "runs", "widths=1*"}).output, Contains("uno-"));
  const Answer wrong = sabath({"run", folder, "--set", "widths=1,0"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.errors, Contains("parameter 'widths': 0 is below its minimum 1"));
  CHECK_THAT(wrong.errors, Contains("a list such as '1,2', each an integer of at least 1"));
}

TEST_CASE("study: a sweep of one list is noted, an empty list has a word") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe(
      "lists",
      "true",
      R"({"parameters": {"hidden": {"type": "list", "of": "int", "default": []}}})");
  const Answer one = sabath({"run", folder, "--sweep", "hidden=8,9", "--dry-run"});
  CHECK_THAT(one.errors, Contains("'hidden=8,9' is one value, a list; ';' separates"));
  const Answer two = sabath({"run", folder, "--sweep", "hidden=8,9;7", "--dry-run"});
  CHECK_THAT(two.output + two.errors, Contains("2 run(s)") && !Contains("is one value"));
  CHECK_THAT(sabath({"run", folder, "--dry-run"}).output, Contains("hidden = (empty)"));
}

TEST_CASE("study: a sweep of a JSON array has values with commas, and empty ones") {
  Sabath sabath;
  const auto folder =
      sabath.shell_recipe("arrays",
                          "true",
                          R"({"parameters": {"hidden": {"type": "list", "of": "int", "default": []},
          "text": {"type": "string", "default": "x"}, "rate": {"type": "float", "default": 1}}})");
  const auto swept = [&](const std::string& text) {
    return sabath({"run", folder, "--sweep", text, "--dry-run"});
  };
  const Answer texts = swept(R"(text=["a,b", "", "c;d"])");
  CHECK_THAT(texts.output + texts.errors, Contains("3 run(s)") && Contains("a,b"));
  const Answer lists = swept("hidden=[[8,9],[],[7]]");
  CHECK_THAT(lists.output + lists.errors, Contains("3 run(s)") && !Contains("is one value"));
  const Answer numbers = swept("rate=[0.5, 2]");
  CHECK_THAT(numbers.output + numbers.errors, Contains("2 run(s)"));
  for (const std::string wrong :
       {R"(rate=["fast"])", "rate=[null]", "rate=[]", R"(rate=[{"a": 1}])"}) {
    INFO(wrong);
    CHECK(swept(wrong).status == 2);
  }
}

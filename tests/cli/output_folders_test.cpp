// Outputs that are folders or patterns: each file of them is an output.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Writes a folder with two files, one of them in a folder of its own, and two shards.
std::string maker(const Sabath& sabath, const std::string& line, const std::string& stage) {
  return sabath.shell_recipe("maker",
                             "mkdir -p {output}/model/variables; " + line,
                             R"({"parameters": {"text": {"type": "string", "default": "one"}}})",
                             stage);
}

constexpr const char* all_files =
    "echo graph > {output}/model/graph.pb; echo {param.text} > {output}/model/variables/data; "
    "echo a > {output}/a.shard; echo b > {output}/b.shard";
constexpr const char* groups = R"({"outputs": ["model/", "*.shard"]})";

json outputs_of(const Sabath& sabath) {
  return json::parse(sabath.newest())["outputs"];
}

}  // namespace

TEST_CASE("cli: a folder and a pattern are outputs, each with all of its files") {
  const Sabath sabath;
  const std::string folder = maker(sabath, all_files, groups);
  done(sabath, {"run", folder, "--seed", "1"});
  const json outputs = outputs_of(sabath);
  REQUIRE(outputs.size() == 4);
  CHECK(outputs[0]["path"] == "model/graph.pb");
  CHECK(outputs[0]["part_of"] == "model/");
  CHECK(outputs[1]["path"] == "model/variables/data");
  CHECK(outputs[3]["path"] == "b.shard");
  CHECK(outputs[3]["part_of"] == "*.shard");
  CHECK(outputs[3]["kept"] == "cache");
  const std::string shown = done(sabath, {"show", "@last"}).output;
  CHECK_THAT(shown, Contains("go/model/, 2 files, 10 B  tree"));
  CHECK_THAT(shown, Contains("go/*.shard, 2 files, 4 B  tree"));
  CHECK_THAT(shown, !Contains("go/a.shard"));

  done(sabath, {"run", folder, "--seed", "1"});
  CHECK_THAT(done(sabath, {"compare", "@last~1", "@last", "--require", "bitwise"}).output,
             Contains("PASS"));
  done(sabath, {"run", folder, "--seed", "1", "--set", "text=two"});
  const Answer differs = sabath({"compare", "@last~1", "@last", "--across", "parameters"});
  CHECK(differs.status == 1);
  CHECK_THAT(differs.output, Contains("model/variables/data"));
  CHECK_THAT(differs.output, !Contains("graph.pb"));
}

TEST_CASE("cli: verify finds what was added to a folder or a pattern after the run") {
  const Sabath sabath;
  done(sabath, {"run", maker(sabath, all_files, groups), "--seed", "1"});
  CHECK(sabath({"verify", "@last"}).status == 0);
  const fs::path outputs = sabath.run_directories().back() / "outputs/go";
  write_text(outputs / "other", "not declared");
  CHECK(sabath({"verify", "@last"}).status == 0);
  write_text(outputs / "model/variables/more", "x");
  fs::create_symlink("/etc/passwd", outputs / "c.shard");
  const Answer verified = sabath({"verify", "@last"});
  CHECK(verified.status == 1);
  CHECK_THAT(verified.output,
             Contains("go/model/variables/more") && Contains("go/c.shard") &&
                 Contains("it was added to 'model/' after the run") && !Contains("go/other"));
}

TEST_CASE("cli: a cached stage gives back the folder that it made") {
  const Sabath sabath;
  const std::string folder =
      maker(sabath, all_files, R"({"outputs": ["model/", "*.shard"], "cache": true})");
  done(sabath, {"run", folder});
  done(sabath, {"run", folder});
  const json record = json::parse(sabath.newest());
  CHECK(record["stages"][0]["state"] == "reused");
  REQUIRE(record["outputs"].size() == 4);
  for (const json& output : record["outputs"]) {
    CHECK(output.contains("part_of"));
    CHECK(fs::exists(sabath.run_directories().back() / "outputs/go" /
                     output["path"].get<std::string>()));
  }
  CHECK(sabath({"verify", "@last"}).status == 0);
}

TEST_CASE("cli: a rule for a folder counts for its files, one for a file before it") {
  const Sabath sabath;
  const std::string text = R"({"schema": 1, "name": "rules", "environment": {"layers": []},
    "parameters": {"x": {"type": "float", "default": 1}},
    "stages": [{"name": "go", "outputs": ["t/"],
                "run": {"shell": "mkdir {output}/t; echo x > {output}/t/a.csv; echo {param.x} >> {output}/t/a.csv; cp {output}/t/a.csv {output}/t/b.csv"}}],
    "compare": {"t/": {"as": "csv", "tolerance": {"relative": 0.1}}, "t/b.csv": {"as": "bytes"}}})";
  const std::string folder = sabath.recipe("rules", text);
  done(sabath, {"run", folder});
  done(sabath, {"run", folder, "--set", "x=1.01"});
  const Answer differs =
      sabath({"compare", "@last~1", "@last", "--across", "parameters", "--require", "tolerance"});
  CHECK(differs.status == 1);
  CHECK_THAT(differs.output, Contains("t/b.csv"));
  const json answer = json::parse(sabath({"compare",
                                          "@last~1",
                                          "@last",
                                          "--across",
                                          "parameters",
                                          "--require",
                                          "tolerance",
                                          "--json"})
                                      .output);
  for (const json& item : answer["outputs"]) {
    if (item["name"].get<std::string>().find("t/a.csv") != std::string::npos)
      CHECK(item["strongest"] == "tolerance");
  }
}

TEST_CASE("cli: a folder that is empty, has a link, or is not there fails its stage") {
  const Sabath sabath;
  const auto failed = [&](const std::string& line) {
    const Answer answer = sabath({"run", maker(sabath, line, R"({"outputs": ["model/"]})")});
    CHECK(answer.status == 1);
    return answer.output + answer.errors;
  };
  CHECK_THAT(failed("true"), Contains("the declared output 'model/' has no file"));
  CHECK_THAT(failed("mkdir model; echo > model/w"),
             Contains("has no file, but the stage's working folder has it: write it to {output}"));
  CHECK_THAT(failed("rm -r {output}/model"), Contains("the declared output 'model/' has no file"));
  CHECK_THAT(failed("ln -s /etc/passwd {output}/model/users"),
             Contains("the declared output 'model/' has 'model/users', which is a symbolic link"));
  CHECK_THAT(failed("ln -s /etc {output}/model/all; echo > {output}/model/x"),
             Contains("has 'model/all', which is a symbolic link"));
  CHECK_THAT(failed("mkfifo {output}/model/pipe"),
             Contains("has 'model/pipe', which is not a regular file"));
  CHECK_THAT(failed("rm -r {output}/model; ln -s /etc {output}/model"), Contains("symbolic link"));
}

TEST_CASE("cli: a folder of a thousand files is one line of 'show' and of 'compare'") {
  const Sabath sabath;
  const std::string folder =
      maker(sabath,
            "for i in $(seq 1000); do echo $i {param.text} > {output}/model/$i.txt; done",
            R"({"outputs": ["model/"]})");
  done(sabath, {"run", folder, "--seed", "1"});
  CHECK_THAT(done(sabath, {"show", "@last"}).output, Contains("go/model/, 1000 files"));
  done(sabath, {"run", folder, "--seed", "1", "--set", "text=two"});
  const std::string text = sabath({"compare", "@last~1", "@last", "--across", "parameters"}).output;
  CHECK_THAT(text, Contains("... and 900 more that differ; '--json' lists all"));
}

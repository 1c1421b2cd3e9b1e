// Documents that describe a program which downloads a file.

#include "support/errors.hpp"

#include <sabath/base/file.hpp>
#include <sabath/spec/tool.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace sabath;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json smallest() {
  return {{"schema", 1},
          {"description", "ours"},
          {"package", "the package 'ours'"},
          {"protocols", {"ours"}},
          {"command", {"our-copy", "{url}", "{output}"}}};
}

std::string problem_of(const json& document) {
  const auto error =
      test::error_of([&] { spec::parse_tool(document.dump(), "catalog/tools/ours.json"); });
  CHECK(error.kind() == base::ErrorKind::usage);
  return error.what();
}

json with(const std::string& key, json value) {
  json document = smallest();
  document[key] = std::move(value);
  return document;
}

}  // namespace

TEST_CASE("tool: every document that ships is right, names its sources, and has its file's name") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(SABATH_SOURCE_DIR "/catalog/tools")) {
    INFO(entry.path());
    const std::string text = base::read_file(entry.path());
    CHECK(spec::parse_tool(text, entry.path().string()).name == entry.path().stem());
    CHECK(json::parse(text).contains("x-source"));
    ++count;
  }
  CHECK(count == 6);
}

TEST_CASE("tool: the example of the page uses every member") {
  const std::string page = base::read_file(SABATH_SOURCE_DIR "/docs/formats/tool.md");
  const auto begin = page.find("```json\n") + 8;
  const auto tool =
      spec::parse_tool(page.substr(begin, page.find("```\n", begin) - begin), "tool.json");
  CHECK(tool.most_connections == 8);
  CHECK(tool.resume == spec::ToolResume::version);
  CHECK(tool.headers == spec::ToolHeaders::file);
  CHECK(tool.failures.size() == 3);
  CHECK(tool.failures[1].exits == std::vector<int>{6, 7});
  CHECK(tool.hints.size() == 2);
  CHECK(tool.version.least == "2.1");
}

TEST_CASE("tool: the smallest document is enough") {
  const auto tool = spec::parse_tool(smallest().dump(), "ours.json");
  CHECK(tool.command.size() == 3);
  CHECK(tool.resume == spec::ToolResume::never);
  CHECK(tool.connections == 1);
}

TEST_CASE("tool: a malformed document is an error that names the place") {
  const auto says = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(
      problem_of(with("command", {"our-copy", "{ulr}", "{output}", "{url}"})),
      says("catalog/tools/ours.json") && says("/command/1") && says("unknown placeholder '{ulr}'"));
  CHECK_THAT(problem_of(with("comand", 1)), says("comand"));
  CHECK_THAT(problem_of(with("command", {"{url}", "{output}"})),
             says("/command") && says("names no program"));
  CHECK_THAT(problem_of(with("command", {"our-copy", "{url}"})), says("'{output}' is missing"));
  CHECK_THAT(problem_of(with("command", {"our-copy", "{output}"})),
             says("'{url}' or '{path}' is missing"));
  CHECK_THAT(problem_of(with("protocols", {"OURS"})), says("/protocols/0"));
  CHECK_THAT(problem_of(with("failures", {{{"exit", 300}, {"means", "retry"}}})),
             says("/failures/0/exit"));
  CHECK_THAT(problem_of(with("failures", {{{"means", "retry"}}})), says("has no condition"));
  CHECK_THAT(problem_of(with("failures", {{{"says", "("}, {"means", "retry"}}})),
             says("/failures/0/says") && says("regular expression"));
  CHECK_THAT(problem_of(with("progress", "[0-9]+")), says("/progress") && says("group"));
  CHECK_THAT(problem_of(with("refuse", {{{"problem", "never"}}})), says("/refuse/0"));
  CHECK_THAT(problem_of(with("resume", "version")), says("'{version}'"));
  CHECK_THAT(problem_of(with("headers", "file")), says("'{headers}'"));
  CHECK_THAT(problem_of(with("hints", {{"retry", "wait"}})), says("retry"));
}

TEST_CASE("tool: a secret stands in stdin or a file, never on a command line") {
  for (const char* text : {"--password={password}", "--header={escaped.header}"}) {
    json document = smallest();
    document["command"].push_back(text);
    CHECK_THAT(problem_of(document), Catch::Contains("is a secret"));
    CHECK_NOTHROW(spec::parse_tool(with("stdin", {text}).dump(), "ours.json"));
    CHECK_NOTHROW(spec::parse_tool(with("file", {text}).dump(), "ours.json"));
  }
}

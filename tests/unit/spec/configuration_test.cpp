#include "problem_text.hpp"

#include <sabath/spec/configuration.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using nlohmann::ordered_json;
using test::problem_of;

namespace {

spec::Configuration read(const ordered_json& document) {
  return spec::parse_configuration(document.dump(), "config.json");
}

test::Problem problem_with(const std::string& key, const std::string& value) {
  ordered_json document = {{"schema", 1}};
  document[key] = ordered_json::parse(value);
  return problem_of([&] { read(document); });
}

test::Problem problem_with_fetcher(const std::string& fetcher) {
  return problem_with("fetchers", "[" + fetcher + "]");
}

}  // namespace

TEST_CASE("configuration: one that says nothing has the defaults") {
  const auto configuration = read({{"schema", 1}});
  CHECK(configuration == spec::Configuration{});
  CHECK(configuration.globus.deadline_hours == 24);
  CHECK(configuration.endpoints.hf == "https://huggingface.co");
  CHECK(configuration.connections_per_host == 0);
  CHECK_FALSE(configuration.cache.shared);
}

TEST_CASE("configuration: what is written reads back as it was") {
  spec::Configuration full;
  full.fetchers = {{"xroot", "xrootd", {"xrdcp", "{url}", "{output}"}, "([0-9]+)%"},
                   {"s4", "s4", {"s4", "{host}{path}", "{output}"}, ""}};
  full.globus = {"6c54cade-bde5-45c1-bdea-f4bd71dba2cc", {{"/lustre", "/"}}, 3};
  full.cache = {{"/site/cache"}, true};
  full.ssh_config = "/etc/ssh_config";
  full.connections_per_host = 4;
  full.environments = {"gpu",
                       true,
                       "/local",
                       {"alice", "1001"},
                       {"sci"},
                       {std::chrono::hours(2), std::chrono::minutes(20), 4}};
  full.runs = {1'000'000'000'000};
  full.prefer = {{"ftp", "curl"}};
  full.endpoints = {"http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"};
  CHECK(read(to_json(full)) == full);
}

TEST_CASE("configuration: a fetcher is called as its scheme, and paths lose their final slashes") {
  const auto configuration = read(ordered_json::parse(R"({"schema": 1,
    "fetchers": [{"scheme": "xroot", "command": ["xrdcp", "{url}", "{output}"]}],
    "globus": {"paths": {"/a/b//": "/c/", "/": "/x"}},
    "endpoints": {"zenodo": "https://z.example.org/"}})"));
  CHECK(configuration.fetchers.at(0).name == "xroot");
  CHECK(configuration.globus.paths ==
        std::map<std::string, std::string>{{"/a/b", "/c"}, {"/", "/x"}});
  CHECK(configuration.endpoints.zenodo == "https://z.example.org");
}

TEST_CASE("configuration: placeholders of a fetcher's command are checked when it is read") {
  const auto unknown =
      problem_with_fetcher(R"({"scheme": "x", "command": ["x", "{urll}", "{url}", "{output}"]})");
  CHECK(unknown.kind == base::ErrorKind::usage);
  CHECK(unknown.says("config.json:/fetchers/0/command/1: unknown placeholder '{urll}'"));
  CHECK(unknown.hint == "did you mean '{url}'?");
  CHECK(problem_with_fetcher(R"({"scheme": "x", "command": ["x", "{url}"]})")
            .says("/fetchers/0/command: '{output}' is missing: it says where the file must go"));
  CHECK(problem_with_fetcher(R"({"scheme": "x", "command": ["x", "{output}", "{host}"]})")
            .says("'{url}' or '{path}' is missing: it says which file is meant"));
  CHECK(problem_with_fetcher(R"({"scheme": "x", "command": ["{host}", "{url}", "{output}"]})")
            .says("/fetchers/0/command/0: the program's name may not depend on the source"));
  CHECK(problem_with_fetcher(R"({"scheme": "x", "command": []})").says("names no program"));
  CHECK(problem_with_fetcher(R"({"scheme": "x", "command": "x {url} {output}"})")
            .says("/fetchers/0/command"));
}

TEST_CASE("configuration: schemes, names and patterns of fetchers are checked") {
  CHECK(problem_with_fetcher(R"({"scheme": "X:", "command": ["x", "{url}", "{output}"]})")
            .says("'X:' is not a scheme"));
  const std::string twice = R"({"scheme": "x", "command": ["x", "{url}", "{output}"]})";
  CHECK(problem_with("fetchers", "[" + twice + "," + twice + "]")
            .says("/fetchers/1: two fetchers are called 'x'"));
  const std::string begin =
      R"({"scheme": "x", "command": ["x", "{url}", "{output}"], "progress": )";
  CHECK(problem_with_fetcher(begin + R"("[0-9]+%"})").says("exactly one group"));
  CHECK(problem_with_fetcher(begin + R"("([0-9]+%"})").says("is not a regular expression"));
  CHECK(problem_with_fetcher(begin + R"("([0-9]+)%", "shell": true})").says("unknown key 'shell'"));
}

TEST_CASE("configuration: the other sections are checked too, all at once") {
  const auto problem = problem_of([] {
    read(ordered_json::parse(R"({"schema": 1,
      "globus": {"local_collection": "mine", "paths": {"relative": "also"}, "deadline_hours": 0},
      "cache": {"lower": ["here"], "shared": 1},
      "environments": {"trusted_owners": ["", "a", "a"], "trusted_groups": "sci",
                       "limits": {"wall": "soon", "silence": 0, "jobs": 0, "cpu": 1}},
      "ssh_config": "here", "connections_per_host": 65,
      "prefer": {"HTTPS": "curl"},
      "endpoints": {"hf": "hf.example.org"}})"));
  });
  CHECK(problem.says("/globus/local_collection: 'mine' is not the UUID of a collection"));
  CHECK(problem.says("/globus/paths/relative: 'relative' is not an absolute path"));
  CHECK(problem.says("/globus/paths/relative: 'also' is not an absolute path"));
  CHECK(problem.says("/globus/deadline_hours: 0 is out of range"));
  CHECK(problem.says("/cache/lower/0: 'here' is not an absolute path"));
  CHECK(problem.says("/cache/shared"));
  CHECK(problem.says("/environments/trusted_owners/0: must not be empty"));
  CHECK(problem.says("/environments/trusted_owners/2"));
  CHECK(problem.says("/environments/trusted_groups"));
  CHECK(problem.says("/environments/limits/wall: \"soon\" is not a length of time"));
  CHECK(problem.says("/environments/limits/silence: 0 is not a length of time"));
  CHECK(problem.says("/environments/limits/jobs: 0 is out of range"));
  CHECK(problem.says("/environments/limits/cpu: unknown key 'cpu'"));
  CHECK(problem.says("/ssh_config: 'here' is not an absolute path"));
  CHECK(problem.says("/connections_per_host: at most 64"));
  CHECK(problem.says("/prefer/HTTPS: 'HTTPS' is not a scheme"));
  CHECK(problem.says("/endpoints/hf: 'hf.example.org' is not a URL of https or http"));
  CHECK(problem.lines() == 17);
}

#include "problem_text.hpp"

#include <sabath/spec/scheduler.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using nlohmann::ordered_json;
using test::problem_of;
using Texts = std::vector<std::string>;

namespace {

ordered_json minimal() {
  return ordered_json::parse(R"json({
    "schema": 1, "description": "ours",
    "submit": {"command": ["osub", "{script}"], "id": "([0-9]+)"},
    "poll": [{"command": ["ostat", "{ids}"], "rows": "(?<id>\\d+) (?<state>\\S+)"}],
    "states": {"W": "pending", "R": "running", "E": "done"},
    "cancel": {
  "command" : [ "oend", "{ids}" ]
}
})json");
}

spec::SchedulerDescription read(const ordered_json& document,
                                const std::string& origin = "schedulers/ours.json") {
  return spec::parse_scheduler(document.dump(), origin);
}

test::Problem problem_with(const std::string& pointer, const ordered_json& value) {
  ordered_json document = minimal();
  document[ordered_json::json_pointer(pointer)] = value;
  return problem_of([&] { read(document); });
}

}  // namespace

TEST_CASE("scheduler description: one that says little has neither arrays nor dependencies") {
  const auto scheduler = read(minimal());
  CHECK(scheduler.name == "ours");
  CHECK_FALSE(scheduler.has_arrays());
  CHECK_FALSE(scheduler.has_dependencies());
  CHECK(scheduler.requests().empty());
  CHECK(scheduler.timeout == std::chrono::minutes(1));
  CHECK(scheduler.submit.run == std::vector<spec::Alternatives>{{"exec {command}"}});
}

TEST_CASE("scheduler description: what a site may request stands in its lines") {
  auto document = minimal();
  document["submit"]["options"] = {"-q {request.queue}",
                                   {"-w {after_tasks}", "-w {after}"},
                                   {"-q {request.queue} {request.account}"}};
  const auto scheduler = read(document);
  CHECK(scheduler.requests() == Texts{"account", "queue"});
  CHECK(scheduler.has_dependencies());
}

TEST_CASE("scheduler description: of alternatives the first that has all its values is written") {
  const std::vector<spec::Alternatives> lines{
      {"a {x}"}, {"b {x} {y}", "c {y}", "d"}, {"e"}, {"{{f}} {y}"}, {}};
  CHECK(spec::filled(lines, {}) == Texts{"d", "e"});
  CHECK(spec::filled(lines, {{"y", "2"}}) == Texts{"c 2", "e", "{f} 2"});
  CHECK(spec::filled(lines, {{"x", ""}, {"y", "{x}"}}) == Texts{"a ", "b  {x}", "e", "{f} {x}"});
}

TEST_CASE("scheduler description: what is told is what stands in the lines that are written") {
  using Told = std::set<std::string>;
  const std::vector<spec::Alternatives> lines{{"-g {gpus} {cpus}", "-c {cpus}"},
                                              {"-m {memory_mib}"}};
  CHECK(spec::told_by(lines, {{"cpus", "2"}}) == Told{"cpus"});
  CHECK(spec::told_by(lines, {{"cpus", "2"}, {"gpus", "1"}}) == Told{"cpus", "gpus"});
  // Where the site speaks itself, it speaks of all that would have come after.
  const std::vector<spec::Alternatives> own{
      {"{request.a} {memory_mib}", "{request.select}", "{nodes}:{gpus}", "{nodes}"}};
  CHECK(spec::told_by(own, {{"request.select", "x"}}) == Told{"request.select", "nodes", "gpus"});
  CHECK(spec::told_by(own, {{"nodes", "2"}}) == Told{"nodes"});
}

TEST_CASE("scheduler description: hints are of resources, and readings of words are read") {
  auto document = minimal();
  document["submit"]["untold"] = {{"gpus", "say so"}};
  document["called"] = {{"W", "waits"}};
  document["stuck"] = "held";
  const auto scheduler = read(document);
  CHECK(scheduler.submit.untold.at("gpus") == "say so");
  CHECK(scheduler.called.at("W") == "waits");
  CHECK(scheduler.stuck == "held");
  CHECK(problem_with("/stuck", "(").says("/stuck: '(' is not a regular expression"));
  CHECK(problem_with("/submit/untold", {{"disk", "x"}}).says("'disk' is not a resource of a job"));
}

TEST_CASE("scheduler description: placeholders are checked when it is read") {
  const auto problem =
      problem_with("/submit/options", ordered_json::parse(R"([["-n {node}", "-n {tasks"]])"));
  CHECK(problem.says("schedulers/ours.json:/submit/options/0/0: unknown placeholder '{node}'"));
  CHECK(problem.says("/submit/options/0/1: a single '{'"));
  CHECK(problem.hint == "did you mean '{nodes}'?");
  CHECK(problem_with("/cancel/command", {"oend", "{id}"}).hint == "did you mean '{ids}'?");
  CHECK(problem_with("/cancel/command", {"{ids}"}).says("/cancel/command: names no program"));
  CHECK(problem_with("/cancel/command", ordered_json::array()).says("names no program"));
  CHECK(problem_with("/arrays", {{"task", "{1}.{2}"}, {"log", "%a"}}).says("'{2}'"));
}

TEST_CASE("scheduler description: patterns are checked, and have the groups that are read") {
  CHECK(problem_with("/submit/id", "([0-9]+").says("/submit/id: '([0-9]+' is not a regular"));
  CHECK(problem_with("/submit/id", "[0-9]+").says("has no group that says what is looked for"));
  CHECK(problem_with("/submit/hints", {{"(", "x"}}).says("is not a regular expression"));
  const auto problem = problem_with("/poll/0/rows", "(?<id>x)");
  CHECK(problem.says("/poll/0/rows: has no group called 'state'"));
  CHECK(problem.hint == "write it as (?<state>...)");
  CHECK(problem_with("/find", {{{"command", {"x"}}, {"rows", "x"}}}).says("called 'id'"));
}

TEST_CASE("scheduler description: what cannot work as a whole is told, all at once") {
  auto problem = problem_with("/states", {{"W", "waiting"}});
  CHECK(problem.says("/states/W"));
  CHECK(problem.says("no word of 'states' means 'running'"));
  CHECK_FALSE(problem.says("means 'done'"));
  CHECK(problem_with("/poll", ordered_json::array()).says("'poll' asks nothing"));
  CHECK(problem_with("/arrays", {{"task", "{1}.{task}"}, {"log", "%a"}})
            .says("has arrays, but 'node' does not say where a job finds its 'index'"));
  ordered_json returning = minimal();
  returning["arrays"] = {{"task", "{1}.{task}"}, {"log", ""}};
  returning["node"]["index"] = "$INDEX";
  CHECK(read(returning).arrays.log.empty());
  returning["submit"]["options"] = {"--bring-back={outputs}"};
  CHECK(problem_of([&] { read(returning); }).says("give 'arrays' a 'log'"));
  problem = problem_with("/submit/directive", "#X\n#Y ");
  CHECK(problem.says("/submit/directive: must not contain line breaks"));
  CHECK(problem_with("/submit/optoins", {"x"}).hint == "did you mean 'options'?");
  CHECK(problem_with("/timeout", 0).says("/timeout: 0 is not a length of time"));
  auto document = minimal();
  document["submit"]["directive"] = "#X ";
  document["submit"]["file"] = {"x"};
  CHECK(problem_of([&] { read(document); }).says("has both 'directive' and 'file'"));
  CHECK(problem_of([] {
          read(minimal(), "x/Our Own.json");
        }).says("the file's name 'Our Own' is not a name of a scheduler"));
}

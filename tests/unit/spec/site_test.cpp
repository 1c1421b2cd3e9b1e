#include "problem_text.hpp"

#include <sabath/spec/site.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using nlohmann::ordered_json;
using test::problem_of;

namespace {

spec::Site read(const ordered_json& document, const std::string& origin = "sites/here.json") {
  return spec::parse_site(document.dump(), origin);
}

test::Problem problem_with(const std::string& key, const ordered_json& value) {
  ordered_json document = {{"schema", 1}, {"scheduler", "slurm"}};
  document[key] = value;
  return problem_of([&] { read(document); });
}

}  // namespace

TEST_CASE("site: one that names a scheduler has the defaults, and the name of its file") {
  const auto site = read({{"schema", 1}, {"scheduler", "slurm"}});
  CHECK(site.name == "here");
  CHECK(site.scheduler == "slurm");
  CHECK(site.resources == spec::Resources{});
  CHECK(site.warning == std::chrono::minutes(1));
  CHECK(site.grace == std::chrono::minutes(1));
  CHECK(site.at_once == 0);
  CHECK_FALSE(site.build_in_job);
}

TEST_CASE("site: what is written reads back as it was") {
  spec::Site full;
  full.name = "here";
  full.description = "the cluster";
  full.scheduler = "pbs";
  full.request = {{"account", "m1"}, {"partition", "gpu"}};
  full.options = {"-l", "place=excl"};
  full.resources = {2, 8, 4, 1, 5U << 30U, std::chrono::minutes(10), std::chrono::minutes(1)};
  full.at_once = 3;
  full.largest_array = 7;
  full.build_in_job = true;
  full.implied = {"gpus", "memory"};
  full.setup = {"module load \"gcc\"", "x='1'"};
  full.variables = {{"A", ""}, {"B", "x y"}};
  full.variant = "gpu";
  full.cache = "/cache";
  full.scratch = "$TMPDIR/x";
  full.staging = {"${LOCAL}", true, false};
  full.prefix = "mpirun";
  full.program = "/opt/bin/sabath";
  full.warning = std::chrono::seconds(5);
  full.grace = std::chrono::seconds(6);
  CHECK(read(to_json(full)) == full);
}

TEST_CASE("site: resources have the recipe's keys and units") {
  const auto site = read(ordered_json::parse(R"({"schema": 1, "scheduler": "slurm",
    "resources": {"cpus": 2, "memory": "4 GiB", "time": "00:10:00"}})"));
  CHECK(site.resources.cpus == 2);
  CHECK(site.resources.memory_bytes == 4ULL << 30U);
  CHECK(site.resources.time == std::chrono::minutes(10));
  CHECK(problem_with("resources", {{"memry", 1}}).hint == "did you mean 'memory'?");
}

TEST_CASE("site: what it says is one node, and no GPU, is written and read as said") {
  spec::Site site = read(ordered_json::parse(R"({"schema": 1, "scheduler": "slurm",
    "resources": {"nodes": 1, "gpus": 0}})"));
  CHECK(site.resources.nodes == 1);
  CHECK(site.resources.gpus == 0);
  CHECK_FALSE(site.resources.tasks);
  CHECK(read(to_json(site)) == site);
}

TEST_CASE("site: only resources can be implied") {
  const auto problem = problem_with("implied", {"memory", "disk"});
  CHECK(problem.says("/implied/1: 'disk' is not a resource of a job"));
  CHECK(problem_with("implied", {"gpus", "gpus"}).says("/implied/1"));
}

TEST_CASE("site: nothing in it can begin a line of a job script") {
  const std::string evil = "x\nrm -rf ~";
  const std::string what = "must not contain line breaks or other control characters";
  CHECK(problem_with("setup", {"true", evil}).says("sites/here.json:/setup/1: " + what));
  CHECK(problem_with("options", {evil}).says("/options/0: " + what));
  CHECK(problem_with("request", {{"partition", evil}}).says("/request/partition: " + what));
  CHECK(problem_with("variables", {{"A", evil}}).says("/variables/A: " + what));
  CHECK(problem_with("description", evil).says("/description: " + what));
  CHECK(problem_with("cache", "/" + evil).says("/cache: " + what));
  CHECK(problem_with("scratch", "/" + evil).says("/scratch: " + what));
  CHECK(problem_with("program", "/" + evil).says("/program: " + what));
  CHECK(problem_with("staging", {{"folder", "/" + evil}, {"inputs", true}})
            .says("/staging/folder: " + what));
  CHECK(problem_with("setup", {std::string("a\0b", 3)}).says(what));
  CHECK(problem_with("setup", {"a\rb"}).says(what));
  CHECK(problem_with("prefix", evil).says("/prefix"));
  CHECK(problem_with("scheduler", evil).says("/scheduler"));
  CHECK(problem_with("variant", evil).says("/variant"));
  CHECK(problem_with("request", {{evil, "x"}}).says("is not a name"));
  CHECK(problem_with("variables", {{evil, "x"}}).says("is not the name of a variable"));
}

TEST_CASE("site: all its problems are told at once, with the nearest key") {
  const auto problem = problem_of([] {
    read(ordered_json::parse(R"({"schema": 1, "schedular": "slurm", "at_once": 0,
      "largest_array": "many", "build_in_job": 1, "setup": [""], "cache": "here", "program": "$HOME/x",
      "staging": {"folder": "/local"}, "warning": 0, "grace": "soon", "variables": {"1A": "x"}})"));
  });
  CHECK(problem.kind == base::ErrorKind::usage);
  CHECK(problem.says("'scheduler' is missing"));
  CHECK(problem.says("unknown key 'schedular'"));
  CHECK(problem.says("/at_once: 0 is out of range"));
  CHECK(problem.says("/largest_array"));
  CHECK(problem.says("/build_in_job"));
  CHECK(problem.says("/setup/0: must not be empty"));
  CHECK(problem.says("/cache: 'here' is not an absolute path"));
  CHECK(problem.says("/program: '$HOME/x' is not an absolute path"));
  CHECK(problem.says("/staging: neither 'inputs' nor 'environments' is true"));
  CHECK(problem.says("/warning: 0 is not a length of time"));
  CHECK(problem.says("/grace: \"soon\" is not a length of time"));
  CHECK(problem.says("/variables/1A: '1A' is not the name of a variable"));
  CHECK(problem.lines() == 12);
}

TEST_CASE("site: the name of its file is a name") {
  const auto problem = problem_of([] {
    read({{"schema", 1}, {"scheduler", "slurm"}}, "sites/My Site.json");
  });
  CHECK(problem.says("the file's name 'My Site' is not a name of a site"));
}

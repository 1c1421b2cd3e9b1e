#include <sabath/base/clock.hpp>
#include <sabath/batch/batch_steps.hpp>
#include <sabath/home/batch_files.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;
using Stages = std::vector<spec::PlannedStage>;

namespace {

spec::PlannedStage stage(const std::string& name, const Names& needs, int cpus, int gpus = 0) {
  spec::PlannedStage planned;
  planned.name = name;
  planned.needs = needs;
  planned.resources.cpus = cpus;
  planned.resources.gpus = gpus;
  return planned;
}

std::vector<Names> names_of(const std::vector<spec::BatchStep>& steps) {
  std::vector<Names> names;
  for (const spec::BatchStep& step : steps)
    names.push_back(step.stages);
  return names;
}

}  // namespace

TEST_CASE("steps: stages that want the same machine are one job") {
  const auto steps = batch::steps_of({stage("a", {}, 4), stage("b", {"a"}, 4)}, {});
  CHECK(names_of(steps) == std::vector<Names>{{"a", "b"}});
  CHECK(steps.front().resources.cpus == 4);
}

TEST_CASE("steps: what a stage does not say is the site's") {
  spec::Site site;
  site.resources.cpus = 8;
  site.resources.memory_bytes = 1000;
  site.resources.nodes = 2;
  const auto steps = batch::steps_of({stage("a", {}, 0), stage("b", {"a"}, 8)}, site);
  REQUIRE(steps.size() == 1);
  CHECK(steps.front().resources.cpus == 8);
  CHECK(steps.front().resources.memory_bytes == 1000);
  CHECK(steps.front().resources.nodes == 2);
}

TEST_CASE("steps: one node, one task and no GPU that a stage says are not the site's to change") {
  spec::Site site;
  site.resources.nodes = 2;
  site.resources.tasks = 8;
  site.resources.gpus = 4;
  Stages stages{stage("a", {}, 1), stage("b", {"a"}, 1)};
  stages[0].resources.nodes = stages[0].resources.tasks = 1;
  stages[0].resources.gpus = 0;
  stages[1].resources.gpus.reset();
  const auto steps = batch::steps_of(stages, site);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].resources.nodes.value_or(-1) == 1);
  CHECK(steps[0].resources.tasks.value_or(-1) == 1);
  CHECK(steps[0].resources.gpus.value_or(-1) == 0);
  CHECK(steps[1].resources.nodes.value_or(-1) == 2);
  CHECK(steps[1].resources.tasks.value_or(-1) == 8);
  CHECK(steps[1].resources.gpus.value_or(-1) == 4);
  SECTION("to say what one has anyway is to want the same machine") {
    CHECK(batch::steps_of(stages, {}).size() == 1);
  }
}

TEST_CASE("steps: each node has a task where nobody says how many there are") {
  spec::Resources stage;
  stage.nodes = 3;
  spec::Site site;
  CHECK(batch::resources_at(site, stage).tasks == 3);
  site.resources.tasks = 2;
  CHECK(batch::resources_at(site, stage).tasks == 3);
  site.resources.tasks = 6;
  CHECK(batch::resources_at(site, stage).tasks == 6);
  stage.nodes.reset();
  site.resources.nodes = 4;
  CHECK(batch::resources_at(site, stage).nodes == 4);
  stage.tasks = 1;  // of which three of the site's nodes would have none
  CHECK(batch::resources_at(site, stage).tasks == 1);
  CHECK(batch::resources_at(site, stage).nodes == 1);
}

TEST_CASE("steps: another machine is another job, after all that it needs") {
  const Stages stages{stage("prepare", {}, 2),
                      stage("train", {"prepare"}, 2, 1),
                      stage("check", {"prepare"}, 2),
                      stage("score", {"train", "check"}, 2)};
  CHECK(names_of(batch::steps_of(stages, {})) ==
        std::vector<Names>{{"prepare", "check"}, {"train"}, {"score"}});
}

TEST_CASE("steps: each of nodes, tasks, memory parts two stages") {
  Stages stages{stage("a", {}, 1), stage("b", {"a"}, 1)};
  SECTION("nodes") {
    stages[1].resources.nodes = 2;
  }
  SECTION("tasks") {
    stages[1].resources.tasks = 2;
  }
  SECTION("memory") {
    stages[1].resources.memory_bytes = 5;
  }
  CHECK(batch::steps_of(stages, {}).size() == 2);
}

TEST_CASE("steps: a stage that is not due asks for no machine") {
  Stages stages{stage("a", {}, 1), stage("b", {"a"}, 1, 4), stage("c", {"b"}, 1)};
  stages[1].not_due = "because";
  CHECK(names_of(batch::steps_of(stages, {})) == std::vector<Names>{{"a", "b", "c"}});
  SECTION("unless another run of the study has it") {
    batch::join_due(stages, {stage("a", {}, 1), stage("b", {"a"}, 1, 4)});
    CHECK(batch::steps_of(stages, {}).size() == 3);
  }
  SECTION("and where it is the first, those that need it do not wait") {
    stages[0].not_due = "because";
    CHECK(names_of(batch::steps_of(stages, {})) == std::vector<Names>{{"a", "b", "c"}});
  }
  SECTION("nor is a run without any stage to do lost") {
    stages[0].not_due = stages[2].not_due = "because";
    CHECK(names_of(batch::steps_of(stages, {})) == std::vector<Names>{{"a", "b", "c"}});
  }
}

TEST_CASE("steps: a job has the time of all its stages and their tries, and some for itself") {
  spec::Site site;
  site.warning = 30s;
  site.resources.time = 1h;
  Stages stages{stage("a", {}, 1), stage("b", {"a"}, 1)};
  CHECK(batch::steps_of(stages, site).front().resources.time == 1h);
  stages[0].resources.time = 2h;
  CHECK(batch::steps_of(stages, site).front().resources.time == 2h + 90s);
  stages[0].resources.time = 100s;
  stages[1].resources.time = 200s;
  CHECK(batch::steps_of(stages, site).front().resources.time == 300s + 90s);
  stages[1].retry = spec::Retry{2, 10s, {1}, {}, {}, {}};
  CHECK(batch::steps_of(stages, site).front().resources.time == 700s + 20s + 90s);
  site.resources.time.reset();
  stages[0].resources.time.reset();
  CHECK_FALSE(batch::steps_of(stages, site).front().resources.time);
}

TEST_CASE("steps: no job is asked for a longer time than can be counted") {
  spec::Site site;
  site.warning = base::longest_duration;
  Stages stages{stage("a", {}, 1)};
  stages[0].resources.time = base::longest_duration;
  stages[0].retry = spec::Retry{.times = 100};
  CHECK(batch::steps_of(stages, site).front().resources.time == base::longest_duration);
  stages[0].resources.time.reset();
  site.resources.time = std::chrono::hours(1);
  CHECK(batch::steps_of(stages, site).front().resources.time == base::longest_duration);
}

TEST_CASE(
    "batch files: the name of a job's log ends with the index, as some schedulers append it") {
  const home::BatchFiles files("/study/jobs/1");
  CHECK(files.log(2) == "/study/jobs/1/job-2.log-{task}");
  CHECK(files.log_of(2, 3) == "/study/jobs/1/job-2.log-3");
}

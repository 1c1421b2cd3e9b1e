// What jobs of a scheduler execute. The scheduler is this test, by its variables alone.
#include "support/planned_batch.hpp"

#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Stages as JSON objects with "name" and "line"; other keys stay.
std::string recipe_of(const Sabath& sabath, json stages) {
  for (json& stage : stages) {
    stage["run"] = {{"shell", stage["line"]}};
    stage.erase("line");
  }
  const json document = {{"schema", 1},
                         {"name", "toy"},
                         {"environment", {{"layers", json::array()}}},
                         {"stages", std::move(stages)}};
  return sabath.recipe("toy", document.dump());
}

bool is_marked(const fs::path& folder, const std::string& name) {
  return fs::exists(folder / name);
}

void wait_for(const fs::path& file) {
  REQUIRE(eventually([&] { return fs::exists(file); }));
}

}  // namespace

TEST_CASE("job: a task executes its run, says so in the batch's folder, and records the job") {
  Sabath sabath;
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", "echo hello"), 2);
  batch.be_job("4712");
  sabath.environment()["SLURM_ARRAY_JOB_ID"] = "4711";
  sabath.environment()["SLURM_ARRAY_TASK_ID"] = "2";
  sabath.environment()["SLURM_CPU_BIND"] = "quiet,mask_cpu:0x1";
  const Answer answer = batch.exec(2);
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK_FALSE(fs::exists(batch.run(0).record()));
  const json record = batch.record(1);
  CHECK(record["state"] == "ok");
  REQUIRE(record["jobs"].size() == 1);
  const json& job = record["jobs"][0];
  CHECK(job["scheduler"] == "slurm");
  CHECK(job["batch"] == "batch-1");
  CHECK(job["start"] == json{{"id", "4711_2"}, {"restarts", 0}, {"step", 1}});
  CHECK(job["node"] == "n1");
  CHECK(job["nodes"] == "n1");
  CHECK(job["variables"]["SLURM_CPU_BIND"] == "quiet,mask_cpu:0x1");
  CHECK_FALSE(job["cpus_allowed"].get<std::string>().empty());
  CHECK(record["hosts"][0]["node"] == "n1");
  CHECK_FALSE(record.contains("attempts"));
  const std::string& id = batch.plan().runs[1];
  CHECK(is_marked(batch.files().started(), id + ".1"));
  CHECK(is_marked(batch.files().ended(), id));
  CHECK_FALSE(is_marked(batch.files().started(), batch.plan().runs[0] + ".1"));
  CHECK(batch.run(1).read_status().job->id == "4711_2");
}

TEST_CASE("job: the launch facet knows how much it is and no ids") {
  Sabath sabath;
  spec::BatchStep step{{"go"}, {}};
  step.resources.cpus = 2;
  const auto facet_of = [&](const std::string& id) {
    PlannedBatch batch(sabath, sabath.shell_recipe("toy", "true"), 1, 1, {step});
    batch.be_job(id);
    REQUIRE(batch.exec().status == 0);
    return batch.run().read_record()->facet("launch")->items;
  };
  const auto facet = facet_of("1");
  CHECK(facet.at("cpus") == "2");
  CHECK(facet.at("nodes") == "1");
  CHECK(facet_of("2") == facet);
}

TEST_CASE("job: a failed run is a failed job, and a task or step that is not there is told") {
  Sabath sabath;
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", "exit 3"));
  batch.be_job("1");
  CHECK(batch.exec().status == 1);
  const Answer again = batch.exec();
  CHECK(again.status == 1);  // quietly: the record is there
  CHECK_THAT(batch.exec(2).errors, Contains("has no task 2"));
  CHECK_THAT(batch.exec(1, 2).errors, Contains("has no step 2"));
  CHECK(batch.exec(2).status == 2);
  CHECK_THAT(sabath({"exec"}).errors, Contains("nothing to execute is named"));
}

TEST_CASE("job: packed runs have disjoint cores, and what has ended is not run again") {
  Sabath sabath;
  const std::string line = "grep Cpus_allowed_list /proc/self/status; sleep 0.3";
  spec::BatchStep step{{"go"}, {}};
  step.resources.cpus = 1;
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", line), 3, 3, {step});
  batch.be_job("1");
  REQUIRE(sabath({"exec", batch.run(1).directory().string()}).status == 0);
  const std::string before = text_of(batch.run(1).record());
  const Answer answer = batch.exec();
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(batch.run(1).record()) == before);
  const auto binding = [&](std::size_t run) {
    return batch.record(run)["facets"].dump() +
           text_of(batch.run(run).attempt(1) / "go" / "stdout.log");
  };
  CHECK(batch.record(0)["state"] == "ok");
  CHECK(batch.record(2)["state"] == "ok");
  const bool has_room = sysconf(_SC_NPROCESSORS_ONLN) > 1;
  if (has_room) CHECK(binding(0) != binding(2));
  CHECK(batch.record(2)["jobs"][0]["start"]["id"] == "1");
  if (has_room) CHECK(batch.record(2)["jobs"][0]["shared"] == true);
  CHECK(is_marked(batch.files().ended(), batch.plan().runs[2]));
}

TEST_CASE("job: packed runs see a GPU each") {
  Sabath sabath;
  sabath.environment()["CUDA_VISIBLE_DEVICES"] = "4,5";
  spec::BatchStep step{{"go"}, {}};
  step.resources.cpus = 1;
  step.resources.gpus = 1;
  const std::string recipe = sabath.shell_recipe("toy", "echo $CUDA_VISIBLE_DEVICES; sleep 0.3");
  PlannedBatch batch(sabath, recipe, 2, 2, {step});
  batch.be_job("1");
  const Answer answer = batch.exec();
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const auto seen = [&](std::size_t run) {
    return text_of(batch.run(run).attempt(1) / "go" / "stdout.log");
  };
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return;  // one after the other, each with all
  CHECK(std::set<std::string>{seen(0), seen(1)} == std::set<std::string>{"4\n", "5\n"});
}

TEST_CASE("job: of packed runs the worst gives the status, and a stop ends all with records") {
  Sabath sabath;
  SECTION("one fails") {
    const std::string line = "case $SABATH_RUN_ID in *" + std::string("[a-m]") + ") exit 3;; esac";
    PlannedBatch batch(sabath, sabath.shell_recipe("toy", line), 6, 6);
    batch.be_job("1");
    bool any = false;
    for (const std::string& run : batch.plan().runs)
      any = any || run.back() <= 'm';
    CHECK(batch.exec().status == (any ? 1 : 0));
  }
  SECTION("a stop") {
    PlannedBatch batch(sabath, sabath.shell_recipe("toy", "sleep 60"), 2, 2);
    batch.be_job("");
    Running running = sabath.start(batch.command());
    wait_for(batch.run(0).attempt(1) / "go" / "stdout.log");
    running.signal(SIGTERM);
    CHECK(running.wait().status == 130);
    CHECK(batch.record(0)["state"] == "interrupted");
  }
}

TEST_CASE("requeue: a run whose node died goes on as attempt 2 of the same job") {
  Sabath sabath;
  const std::string line =
      "ls -A {output} > seen; echo $SABATH_ATTEMPT >> {output}/file; cat {output}/file; "
      "[ $SABATH_ATTEMPT = 2 ] || sleep 60";
  const bool checkpoint = GENERATE(false, true);
  PlannedBatch batch(
      sabath, sabath.shell_recipe("toy", line, "{}", checkpoint ? R"({"checkpoint":true})" : "{}"));
  batch.be_job("7");
  {
    Running running = sabath.start(batch.command());
    wait_for(batch.run().outputs("go") / "file");
    REQUIRE(eventually([&] { return batch.run().read_status().stage == "go"; }));
    running.signal(SIGKILL);
    running.wait();
  }
  batch.be_job("7", 1, "n2");
  REQUIRE(batch.exec().status == 0);
  const json record = batch.record();
  CHECK(record["state"] == "ok");
  REQUIRE(record["attempts"].size() == 1);
  CHECK(record["attempts"][0]["state"] == "lost");
  CHECK(record["attempts"][0]["stage"] == "go");
  CHECK(record["attempts"][0]["node"] == "n1");
  CHECK(record["attempts"][0]["job"]["id"] == "7");
  CHECK(record["jobs"][0]["start"]["restarts"] == 1);
  CHECK(text_of(batch.run().outputs("go") / "file") == (checkpoint ? "1\n2\n" : "2\n"));
  CHECK(is_marked(batch.files().started(), batch.plan().runs[0] + ".2"));
}

TEST_CASE("requeue: an attempt that was given up and still lives ends, and writes nothing more") {
  Sabath sabath;
  const json stages = {
      {{"name", "first"}, {"line", "while [ ! -e {output}/go ]; do sleep 0.1; done"}},
      {{"name", "second"}, {"needs", {"first"}}, {"line", "sleep 60"}}};
  PlannedBatch batch(sabath, recipe_of(sabath, stages));
  batch.be_job("7");
  Running running = sabath.start(batch.command());
  REQUIRE(eventually([&] { return batch.run().read_status().stage == "first"; }));
  wait_for(batch.run().outputs("first"));
  spec::RunStatus status = batch.run().read_status();
  status.attempt = 2;
  status.node = "n2";
  batch.run().write_status(status);
  write_text(batch.run().outputs("first") / "go", "");
  const Answer answer = running.wait();
  CHECK(answer.status != 0);
  CHECK_THAT(answer.errors, Contains("another attempt has taken over this run"));
  CHECK_FALSE(fs::exists(batch.run().record()));
  CHECK(batch.run().read_status().attempt == 2);
  CHECK(batch.run().read_status().node == "n2");
}

TEST_CASE("requeue: what runs on a node that cannot be seen is left to it") {
  Sabath sabath;
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", "true"));
  auto elsewhere = base::ProcessIdentity::current();
  elsewhere.host = std::string(elsewhere.host.size(), '0');
  spec::RunStatus status = batch.run().read_status();
  status.state = spec::RunState::running;
  status.attempt = 1;
  status.node = "n3";
  status.process = elsewhere.text();
  status.job = spec::JobStart{"7", 1, 1};
  batch.run().write_status(status);
  const auto is_refused = [&](const std::string& id, int restarts) {
    batch.be_job(id, restarts);
    const Answer answer = batch.exec();
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("may still be executed, as process"));
    CHECK(batch.run().read_status() == status);
    return answer.status == 2;
  };
  CHECK(is_refused("7", 1));
  CHECK(is_refused("7", 0));
  CHECK(is_refused("8", 2));
  batch.be_job("7", 2);
  CHECK(batch.exec().status == 0);
  CHECK(batch.record()["attempts"][0]["node"] == "n3");
}

TEST_CASE("requeue: a run that a signal interrupted goes on with its own job, until it is closed") {
  Sabath sabath;
  const std::string line = "[ $SABATH_ATTEMPT = 2 ] || sleep 60";
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", line));
  batch.be_job("7");
  Running running = sabath.start(batch.command());
  REQUIRE(eventually([&] { return batch.run().read_status().stage == "go"; }));
  running.signal(SIGTERM);
  CHECK(running.wait().status == 130);
  CHECK(batch.run().read_status().state == spec::RunState::interrupted);
  CHECK_FALSE(fs::exists(batch.run().record()));
  CHECK(is_marked(batch.files().ended(), batch.plan().runs[0]));
  // Everybody sees how it stands.
  CHECK(batch.run().read_record()->state == spec::RunState::interrupted);
  CHECK_THAT(sabath({"list", "runs"}).output, Contains("interrupted"));
  CHECK(sabath({"show", batch.plan().runs[0]}).status == 0);

  SECTION("it comes back") {
    CHECK(batch.exec().status == 2);  // not the same start of it again
    batch.be_job("7", 1);
    CHECK(batch.exec().status == 0);
    const json record = batch.record();
    CHECK(record["state"] == "ok");
    CHECK(record["attempts"][0]["state"] == "interrupted");
    CHECK_THAT(sabath({"list", "runs"}).output, !Contains("interrupted"));
  }
  SECTION("somebody who knows better closes it") {
    CHECK(home::close_interrupted(batch.run()));
    CHECK_FALSE(home::close_interrupted(batch.run()));
    CHECK(batch.record()["state"] == "interrupted");
    batch.be_job("7", 1);
    CHECK(batch.exec().status == 130);
    CHECK(batch.record()["state"] == "interrupted");
  }
}

TEST_CASE("requeue: where the scheduler counts no restarts the same job goes on with its run") {
  Sabath sabath;
  spec::Site site;
  site.scheduler = "pbs";
  const std::string line = "[ $SABATH_ATTEMPT = 3 ] || sleep 60";
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", line), 1, 1, {}, site);
  sabath.environment()["SABATH_JOB_ID"] = "7.pbs";
  for (const int attempt : {1, 2}) {
    Running running = sabath.start(batch.command());
    REQUIRE(eventually([&] {
      const spec::RunStatus status = batch.run().read_status();
      return status.stage == "go" && status.attempt == attempt;
    }));
    running.signal(SIGTERM);
    CHECK(running.wait().status == 130);
  }
  sabath.environment()["SABATH_JOB_ID"] = "8.pbs";
  CHECK_THAT(batch.exec().errors, Contains("finished already"));
  sabath.environment()["SABATH_JOB_ID"] = "7.pbs";
  const Answer answer = batch.exec();
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK(batch.record()["attempts"].size() == 2);
}

TEST_CASE("job: a signal when the job's time is nearly over ends the run, others interrupt it") {
  Sabath sabath;
  spec::Site site;
  site.scheduler = "slurm";
  site.warning = std::chrono::seconds(60);
  spec::BatchStep step{{"go"}, {}};
  step.resources.time = std::chrono::hours(1);
  PlannedBatch batch(sabath, sabath.shell_recipe("toy", "sleep 60"), 1, 1, {step}, site);
  batch.be_job("7");
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const auto signalled = [&](long left) {
    sabath.environment()["SABATH_JOB_END"] = std::to_string(now + left);
    Running running = sabath.start(batch.command());
    REQUIRE(eventually([&] { return batch.run().read_status().stage == "go"; }));
    running.signal(SIGTERM);
    return running.wait().status;
  };
  SECTION("it is nearly over") {
    CHECK(signalled(65) == 1);
    CHECK(batch.run().read_record()->state == spec::RunState::failed);
    CHECK_THAT(batch.run().read_record()->message, Contains("the job's time was nearly over"));
    CHECK_FALSE(fs::exists(batch.run().record()));
    CHECK_THAT(batch.exec().errors, Contains("finished already"));
    REQUIRE(home::close_interrupted(batch.run()));
    CHECK(batch.record()["state"] == "failed");
  }
  SECTION("it is nearly over, and the job is put back into the queue") {
    CHECK(signalled(65) == 1);
    batch.be_job("7", 1);
    sabath.environment().erase("SABATH_JOB_END");
    Running again = sabath.start(batch.command());
    REQUIRE(eventually([&] {
      const spec::RunStatus status = batch.run().read_status();
      return status.stage == "go" && status.attempt == 2;
    }));
    again.signal(SIGTERM);
    CHECK(again.wait().status == 130);
    CHECK_FALSE(fs::exists(batch.run().record()));
  }
  SECTION("there is time left") {
    CHECK(signalled(3000) == 130);
    CHECK(batch.run().read_status().state == spec::RunState::interrupted);
  }
  SECTION("it is nearly over, but a person has cancelled it") {
    batch.files().note_cancelled(batch.plan().runs[0]);
    CHECK(signalled(65) == 130);
  }
}

/// All tasks of a batch, started without waiting for one.
std::vector<std::unique_ptr<Running>> at_once(Sabath& sabath,
                                              PlannedBatch& batch,
                                              std::size_t tasks) {
  std::vector<std::unique_ptr<Running>> all;
  for (std::size_t task = 1; task <= tasks; ++task) {
    batch.be_job(std::to_string(task));
    all.emplace_back(new Running(sabath.start(batch.command(task))));
  }
  return all;
}

TEST_CASE("herd: of 64 tasks that come at once to a cached stage one executes it") {
  Sabath sabath;
  const fs::path log = sabath.folder() / "executions";
  const json stages = {{{"name", "make"},
                        {"cache", true},
                        {"line", "echo x >> " + log.string() + "; sleep 0.5; echo 1 > {output}/x"},
                        {"outputs", {"x"}}},
                       {{"name", "use"}, {"needs", {"make"}}, {"line", "cat {stage.make}/x"}}};
  constexpr std::size_t tasks = 64;
  PlannedBatch batch(sabath, recipe_of(sabath, stages), tasks);
  const auto all = at_once(sabath, batch, tasks);
  for (const auto& one : all) {
    const Answer answer = one->wait();
    INFO(answer.errors);
    CHECK(answer.status == 0);
  }
  CHECK(text_of(log) == "x\n");
  std::size_t reused = 0;
  for (std::size_t i = 0; i < tasks; ++i)
    reused += batch.record(i)["stages"][0]["state"] == "reused" ? 1 : 0;
  CHECK(reused == tasks - 1);
}

TEST_CASE("herd: a cached stage that fails does not make the others wait for each other") {
  Sabath sabath;
  const std::string log = (sabath.folder() / "executions").string();
  const json stages = {{{"name", "make"},
                        {"cache", true},
                        {"line", "echo + >> " + log + "; sleep 2; echo - >> " + log + "; exit 3"},
                        {"outputs", {"x"}}}};
  constexpr std::size_t tasks = 12;
  PlannedBatch batch(sabath, recipe_of(sabath, stages), tasks);
  const auto all = at_once(sabath, batch, tasks);
  for (const auto& one : all)
    CHECK(one->wait().status == 1);
  int running = 0;
  int most = 0;
  for (const char c : text_of(log)) {
    if (c == '+') most = std::max(most, ++running);
    if (c == '-') --running;
  }
  CHECK(running == 0);
  CHECK(most > 1);
}

namespace {

/// Two jobs: "make" in the first, "use" in the second, which reads what the first made.
PlannedBatch two_steps(Sabath& sabath, const std::string& use, const std::string& make = "true") {
  const json stages = {
      {{"name", "make"},
       {"line", make + R"( && echo 1 > {output}/x && echo '{{"loss":2}}' > $SABATH_METRICS)"},
       {"outputs", {"x"}}},
      {{"name", "use"}, {"needs", {"make"}}, {"line", use}, {"outputs", {"y"}}}};
  return PlannedBatch(sabath, recipe_of(sabath, stages), 1, 1, {{{"make"}, {}}, {{"use"}, {}}});
}

}  // namespace

TEST_CASE("steps: each job executes its stages, and the last has the record of all") {
  Sabath sabath;
  PlannedBatch batch = two_steps(sabath, "cat {stage.make}/x > {output}/y");
  batch.be_job("1", 0, "n1");
  REQUIRE(batch.exec(1, 1).status == 0);
  CHECK_FALSE(fs::exists(batch.run().record()));
  const spec::RunStatus between = batch.run().read_status();
  CHECK(between.state == spec::RunState::planned);
  CHECK(between.message == "step 1 of 2 is done");
  CHECK_THAT(sabath({"list", "runs"}).output, Contains("planned"));
  CHECK_FALSE(is_marked(batch.files().ended(), batch.plan().runs[0]));
  batch.be_job("2", 0, "n2");
  const Answer last = batch.exec(1, 2);
  INFO(last.errors);
  REQUIRE(last.status == 0);
  const json record = batch.record();
  CHECK(record["state"] == "ok");
  REQUIRE(record["stages"].size() == 2);
  CHECK(record["stages"][0]["name"] == "make");
  CHECK(record["stages"][1]["state"] == "ok");
  REQUIRE(record["outputs"].size() == 2);
  for (const json& output : record["outputs"])
    CHECK(output["kept"] == "cache");
  REQUIRE(record["hosts"].size() == 2);
  CHECK(record["hosts"][0]["node"] == "n1");
  CHECK(record["hosts"][1]["node"] == "n2");
  REQUIRE(record["jobs"].size() == 2);
  CHECK(record["jobs"][1]["start"] == json{{"id", "2"}, {"restarts", 0}, {"step", 2}});
  CHECK(record["metrics"][0]["name"] == "loss");
  CHECK(record["usage"]["samples"].get<int>() >= 2);
  CHECK_FALSE(record.contains("attempts"));
  CHECK(fs::exists(batch.run().attempt(1) / "samples-n1.jsonl"));
  CHECK(fs::exists(batch.run().attempt(1) / "samples-n2.2.jsonl"));
  CHECK(is_marked(batch.files().ended(), batch.plan().runs[0]));
  // Of two machines that are alike the facet says once what they are.
  CHECK(batch.run().read_record()->facet("host")->items.count("cpu.model") +
            batch.run().read_record()->facet("host")->items.count("0.cpu.model") >
        0);
}

TEST_CASE("steps: an output that was changed within its step is what it was at the end") {
  Sabath sabath;
  const json stages = {
      {{"name", "make"}, {"line", "echo 1 > {output}/x"}, {"outputs", {"x"}}},
      {{"name", "spoil"}, {"needs", {"make"}}, {"line", "sleep 0.1; echo 2 > {stage.make}/x"}},
      {{"name", "use"}, {"needs", {"spoil"}}, {"line", "true"}}};
  PlannedBatch batch(
      sabath, recipe_of(sabath, stages), 1, 1, {{{"make", "spoil"}, {}}, {{"use"}, {}}});
  batch.be_job("1");
  REQUIRE(batch.exec(1, 1).status == 0);
  batch.be_job("2");
  REQUIRE(batch.exec(1, 2).status == 0);
  const json record = batch.record();
  REQUIRE(record["outputs"].size() == 1);
  CHECK(record["outputs"][0]["digest"] == base::sha256_of("2\n").text());
  CHECK(record["outputs"][0]["as_made"] == base::sha256_of("1\n").text());
}

TEST_CASE("steps: a step that fails before its stages takes nothing of the earlier ones away") {
  Sabath sabath;
  PlannedBatch batch = two_steps(sabath, "true");
  batch.be_job("1", 0, "n1");
  REQUIRE(batch.exec(1, 1).status == 0);
  fs::create_directories(batch.run().attempt(1) / "host-n2.json");  // nobody can write it
  batch.be_job("2", 0, "n2");
  CHECK(batch.exec(1, 2).status != 0);
  const json record = batch.record();
  CHECK(record["state"] == "failed");
  REQUIRE(record["stages"].size() == 2);
  CHECK(record["stages"][0]["state"] == "ok");
  CHECK(record["stages"][1]["state"] == "skipped");
  CHECK(record["outputs"].size() == 1);
  CHECK(record["metrics"][0]["name"] == "loss");
  CHECK(record["software"].is_object());
}

TEST_CASE("steps: a failure ends the run at once, and the jobs after it end quietly") {
  Sabath sabath;
  PlannedBatch batch = two_steps(sabath, "true", "false");
  batch.be_job("1");
  REQUIRE(batch.exec(1, 1).status == 1);
  const json record = batch.record();
  CHECK(record["state"] == "failed");
  REQUIRE(record["stages"].size() == 2);
  CHECK(record["stages"][1]["name"] == "use");
  CHECK(record["stages"][1]["state"] == "skipped");
  batch.be_job("2");
  CHECK(batch.exec(1, 2).status == 1);
}

TEST_CASE("steps: a later step goes on as another attempt, and keeps what the first made") {
  Sabath sabath;
  PlannedBatch batch =
      two_steps(sabath, "[ $SABATH_ATTEMPT = 2 ] || sleep 60; cat {stage.make}/x > {output}/y");
  batch.be_job("1");
  REQUIRE(batch.exec(1, 1).status == 0);
  batch.be_job("2");
  {
    Running running = sabath.start(batch.command(1, 2));
    REQUIRE(eventually([&] { return batch.run().read_status().stage == "use"; }));
    running.signal(SIGKILL);
    running.wait();
  }
  batch.be_job("2", 1);
  REQUIRE(batch.exec(1, 2).status == 0);
  const json record = batch.record();
  CHECK(record["state"] == "ok");
  CHECK(record["stages"].size() == 2);
  CHECK(record["outputs"].size() == 2);
  CHECK(record["attempts"].size() == 1);
  CHECK(record["metrics"][0]["name"] == "loss");
}

TEST_CASE("steps: a step does not begin before the one before it has ended well") {
  Sabath sabath;
  spec::Site site;
  site.grace = std::chrono::seconds(1);
  const std::string folder =
      recipe_of(sabath, {{{"name", "a"}, {"line", "true"}}, {{"name", "b"}, {"line", "true"}}});
  PlannedBatch batch(sabath, folder, 1, 1, {{{"a"}, {}}, {{"b"}, {}}}, site);
  batch.be_job("2");
  const Answer answer = batch.exec(1, 2);
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("step 1 of it has not ended well"));
  CHECK(batch.run().read_status().state == spec::RunState::planned);
}

// A cluster with slurmdbd and MariaDB.

#include "batches.hpp"
#include "jobs.hpp"
#include "site_user.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>

using namespace sabath;
using namespace sabath::test;

TEST_CASE("slurm: sacct tells real states, where there is accounting") {
  const auto cluster = SlurmCluster::shared(true);
  const Jobs jobs{*cluster};
  const std::string good = jobs.submit("sleep 3", {"--comment=run=x"});
  const std::string bad = jobs.submit("exit 3");
  const std::string endless = jobs.submit("sleep 100");
  REQUIRE(jobs.reaches(endless, "RUNNING"));
  cluster->answer({"scancel", endless});
  const auto tell = [&](const std::string& job) {
    return cluster->answer(
        {"sacct", "-n", "-P", "-X", "-j", job, "-o", "JobIDRaw,State,ExitCode,Comment"});
  };
  CHECK(eventually([&] { return tell(good) == good + "|COMPLETED|0:0|run=x"; }));
  CHECK(eventually([&] { return tell(bad) == bad + "|FAILED|3:0|"; }));
  CHECK(eventually([&] { return tell(endless) == endless + "|CANCELLED by 0|0:0|"; }));
  std::string step;
  // What a step used is told apart from its end.
  CHECK(eventually([&] {
    step = cluster->answer({"sacct", "-n", "-P", "-j", good + ".batch", "-o", "ElapsedRaw,MaxRSS"});
    return step.ends_with('K');
  }));
  CHECK(std::stoi(step) >= 1);
  CHECK_FALSE(cluster->run({"sbatch", "-A", "nobody", "--wrap=true"}).ok());
}

TEST_CASE("scheduler on slurm: what left its memory is told by accounting, and what it used") {
  const auto cluster = SlurmCluster::shared(true);
  Batches batches(*cluster, "slurm");
  auto job = batches.job("sleep 1.2; test \"$1\" = 1");
  job.tasks = 2;
  const std::string id = batches.scheduler.submit(job, never);
  const std::string good = batches.scheduler.task_id(id, 1);
  const std::string bad = batches.scheduler.task_id(id, 2);
  CHECK(batches.reaches(good, launch::JobPhase::done));
  CHECK(batches.reaches(bad, launch::JobPhase::failed));
  auto description = shipped("slurm");
  description.poll.erase(description.poll.begin());
  launch::Scheduler late(description, {}, batches.processes, environment_of(*cluster));
  CHECK(eventually([&] {
    const auto views = late.poll({good, bad, "99999999"}, never);
    return views.at(good).phase == launch::JobPhase::done &&
           views.at(bad).phase == launch::JobPhase::failed &&
           views.at("99999999") == launch::JobView{};
  }));
  CHECK(eventually([&] {
    const auto uses = batches.scheduler.accounting({good, bad, "99999999"}, never).uses;
    return uses.size() == 2 && uses.at(good).elapsed_s.value_or(0) >= 1 &&
           uses.at(good).max_rss_bytes.value_or(0) > 0 && uses.at(good).nodes.starts_with("n");
  }));
}

TEST_CASE("site: jobs of a cluster that is named are asked for and ended there") {
  auto cluster = SlurmCluster::shared(true);
  const std::string name =
      cluster->answer({"sacctmgr", "-n", "-P", "show", "cluster", "format=cluster"});
  SECTION("by the site's request") {
    SiteUser user(std::move(cluster), {{"request", {{"cluster", name}}}});
    const std::string recipe = user.sabath.shell_recipe("tiny", "sleep 60");
    REQUIRE(user.sabath({"run", recipe, "--on", "test", "--seeds", "1..2", "--detach"}).status ==
            0);
    REQUIRE(eventually([&] {
      return user.state_in(user.json_of({"status", user.only_study()})) == "running";
    }));
    user.json_of({"cancel", user.only_study()});
    const auto end = user.json_of({"wait", user.only_study(), "--timeout", "60s"}, 130);
    CHECK(end["counts"]["interrupted"] == 2);
  }
  SECTION("but not where an option names it alone") {
    SiteUser user(std::move(cluster), {{"options", {"--clusters=" + name}}});
    const std::string recipe = user.sabath.shell_recipe("tiny", "sleep 60");
    const Answer answer = user.sabath({"run", recipe, "--on", "test", "--detach"});
    CHECK(answer.status == 14);
    CHECK_THAT(answer.errors,
               Catch::Contains("is of cluster '" + name + "'") && Catch::Contains("ended there"));
    CHECK(eventually([&] {
      return user.cluster->answer({"squeue", "-h", "-t", "all", "-n", "tiny"}).find("RUNNING") ==
             std::string::npos;
    }));
    CHECK(user.state_in(
              user.json_of({"status", user.sabath.run_directories().back().filename().string()})) ==
          "interrupted");
  }
}

TEST_CASE("accounting: a run that ended while nobody looked gets what its scheduler accounts") {
  SiteUser user(SlurmCluster::shared(true));
  const std::string recipe = user.sabath.shell_recipe("tiny", "head -c 60000000 /dev/zero | tail");
  const bool in_study = GENERATE(false, true);
  std::vector<std::string> command{"run", recipe, "--on", "test", "--detach"};
  if (in_study) command.insert(command.end(), {"--seeds", "1..3"});
  REQUIRE(user.sabath(command).status == 0);
  const auto runs = user.sabath.run_directories();
  REQUIRE(eventually(
      [&] {
        return std::all_of(runs.begin(), runs.end(), [](const auto& run) {
          return std::filesystem::exists(run / "record.json");
        });
      },
      std::chrono::seconds(60)));
  // Records are in the catalog before anybody watches.
  CHECK(user.json_of({"list", "runs"})["runs"][0]["state"] == "ok");
  const std::string what = in_study ? user.only_study() : "@last";
  REQUIRE(eventually(
      [&] {
        user.json_of({"wait", what});
        return std::all_of(runs.begin(), runs.end(), [](const auto& run) {
          return std::filesystem::exists(run / "accounting.json");
        });
      },
      std::chrono::seconds(60)));
  for (const auto& run : runs) {
    const auto told = nlohmann::json::parse(text_of(run / "accounting.json"));
    CHECK(told["max_rss_bytes"].get<double>() > 1e6);
    CHECK(told["elapsed_s"].get<double>() >= 0);
    CHECK(told["job"].get<std::string>().starts_with(
        user.job_of(in_study ? user.sabath.home() / "studies" / user.only_study() : run)));
  }
  CHECK(user.sabath({"show", runs.back().filename().string()}).output.find("slurm job ") !=
        std::string::npos);
}

TEST_CASE("accounting: of a run in several steps that of all of them is added up") {
  SiteUser user(SlurmCluster::shared(true));
  const std::string recipe = user.sabath.recipe("steps", R"({"schema": 1, "name": "steps",
    "environment": {"layers": []},
    "stages": [
      {"name": "make", "resources": {"cpus": 1}, "run": {"shell": "sleep 3; echo x > {output}/d"}, "outputs": ["d"]},
      {"name": "use", "needs": ["make"], "resources": {"cpus": 2}, "run": {"shell": "sleep 3"}}]})");
  REQUIRE(user.sabath({"run", recipe, "--on", "test"}).status == 0);
  const auto run = user.sabath.run_directories().back();
  REQUIRE(eventually(
      [&] {
        user.json_of({"wait", run.filename().string()});
        return std::filesystem::exists(run / "accounting.json");
      },
      std::chrono::seconds(60)));
  const auto told = nlohmann::json::parse(text_of(run / "accounting.json"));
  CHECK(told["elapsed_s"].get<double>() >= 6);
  CHECK(told["max_rss_bytes"].get<double>() > 0);
}

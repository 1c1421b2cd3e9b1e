// A cluster with slurmdbd and MariaDB.

#include "batches.hpp"
#include "jobs.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;

TEST_CASE("slurm: sacct tells real states, where there is accounting") {
  const auto cluster = SlurmCluster::shared(true);
  const Jobs jobs{*cluster};
  const std::string good = jobs.submit("sleep 1.5", {"--comment=run=x"});
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
  const std::string step =
      cluster->answer({"sacct", "-n", "-P", "-j", good + ".batch", "-o", "ElapsedRaw,MaxRSS"});
  CHECK(step.ends_with('K'));
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
    const auto uses = batches.scheduler.accounting({good, bad, "99999999"}, never);
    return uses.size() == 2 && uses.at(good).elapsed_s.value_or(0) >= 1 &&
           uses.at(good).max_rss_bytes.value_or(0) > 0 && uses.at(good).nodes.starts_with("n");
  }));
}

// launch::Scheduler against a real Slurm, with the description that ships.

#include "batches.hpp"
#include "support/errors.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace sabath;
using namespace sabath::test;
using Catch::Matchers::Contains;
using launch::JobPhase;

TEST_CASE("scheduler on slurm: a job runs, knows itself, and ends well or badly as it does") {
  const auto cluster = SlurmCluster::shared();
  Batches batches(*cluster, "slurm");
  const auto good =
      batches.job("echo \"$SABATH_JOB_ID $SABATH_JOB_RESTARTS $SABATH_JOB_NODES $1\"");
  const std::string id = batches.scheduler.submit(good, never);
  const std::string bad = batches.scheduler.submit(batches.job("exit 3"), never);
  CHECK(batches.reaches(id, JobPhase::done));
  CHECK_THAT(batches.log(good), Catch::Matchers::StartsWith(id + " 0 n"));
  CHECK_THAT(batches.log(good), Catch::Matchers::EndsWith(" 1\n"));
  CHECK(batches.reaches(bad, JobPhase::failed));
  CHECK(batches.view(bad).reason == "NonZeroExitCode");
  CHECK(batches.view("99999999") == launch::JobView{});
  const auto both = batches.scheduler.poll({id, "99999998", bad}, never);
  CHECK(both.at(id).phase == JobPhase::done);
  CHECK(both.at("99999998").phase == JobPhase::unknown);
}

TEST_CASE("scheduler on slurm: an array has the indices from 1, a log each, and a limit") {
  const auto cluster = SlurmCluster::shared();
  spec::Site site;
  site.at_once = 1;
  Batches batches(*cluster, "slurm", site);
  auto job = batches.job("echo \"$SABATH_JOB_ID $1\"; test \"$1\" = 2 && exit 1; exit 0");
  job.tasks = 3;
  const std::string id = batches.scheduler.submit(job, never);
  const auto& scheduler = batches.scheduler;
  CHECK(batches.reaches(scheduler.task_id(id, 3), JobPhase::done));
  CHECK(batches.reaches(scheduler.task_id(id, 2), JobPhase::failed));
  CHECK(batches.reaches(scheduler.task_id(id, 1), JobPhase::done));
  CHECK(batches.log(job, "3") == id + "_3 3\n");
  CHECK(batches.log(job, "1") == id + "_1 1\n");
}

TEST_CASE("scheduler on slurm: a task waits for the same task, and goes when that has failed") {
  const auto cluster = SlurmCluster::shared();
  Batches batches(*cluster, "slurm");
  auto first = batches.job("test \"$1\" = 1");
  first.tasks = 2;
  const std::string before = batches.scheduler.submit(first, never);
  auto second = batches.job("true");
  second.tasks = 2;
  second.after = before;
  const std::string after = batches.scheduler.submit(second, never);
  CHECK(batches.reaches(batches.scheduler.task_id(after, 1), JobPhase::done));
  CHECK(batches.reaches(batches.scheduler.task_id(before, 2), JobPhase::failed));
  CHECK(eventually([&] {
    const auto phase = batches.view(batches.scheduler.task_id(after, 2)).phase;
    return phase == JobPhase::cancelled || phase == JobPhase::unknown;
  }));
}

TEST_CASE("scheduler on slurm: cancelled jobs get SIGTERM, waiting ones just go") {
  const auto cluster = SlurmCluster::shared();
  spec::Site site;
  site.options = {"--hold"};
  Batches held(*cluster, "slurm", site);
  const std::string waiting = held.scheduler.submit(held.job("true"), never);
  CHECK(held.view(waiting).phase == JobPhase::pending);
  CHECK_THAT(held.view(waiting).reason, Contains("Held"));
  Batches batches(*cluster, "slurm");
  const auto job = batches.job("trap 'echo term; exit 0' TERM; echo ready; sleep 60 & wait");
  const std::string running = batches.scheduler.submit(job, never);
  REQUIRE(eventually([&] { return batches.log(job) == "ready\n"; }));
  CHECK(batches.view(running).phase == JobPhase::running);
  batches.scheduler.cancel({running, waiting, "99999999"}, never);
  CHECK(batches.reaches(running, JobPhase::cancelled));
  CHECK(batches.reaches(waiting, JobPhase::cancelled));
  CHECK_THAT(batches.log(job), Contains("term\n"));
  batches.scheduler.cancel({running, waiting}, never);
}

TEST_CASE("scheduler on slurm: a job, and an array, are found by their comment") {
  const auto cluster = SlurmCluster::shared();
  Batches batches(*cluster, "slurm");
  const auto job = batches.job("true");
  CHECK_FALSE(batches.scheduler.find(job.comment, never));
  const std::string id = batches.scheduler.submit(job, never);
  CHECK(batches.scheduler.find(job.comment, never) == id);
  CHECK(batches.reaches(id, JobPhase::done));
  CHECK(batches.scheduler.find(job.comment, never) == id);
  auto array = batches.job("sleep 0.5");
  array.tasks = 9;
  const std::string many = batches.scheduler.submit(array, never);
  CHECK(batches.scheduler.find(array.comment, never) == many);
}

TEST_CASE("scheduler on slurm: a job that is started again knows it, and waits in between") {
  const auto cluster = SlurmCluster::shared();
  Batches batches(*cluster, "slurm");
  const auto job =
      batches.job("echo \"$SABATH_JOB_RESTARTS\"; test \"$SABATH_JOB_RESTARTS\" = 1 || sleep 100");
  const std::string id = batches.scheduler.submit(job, never);
  REQUIRE(eventually([&] { return batches.log(job) == "0\n"; }));
  cluster->answer({"scontrol", "requeue", id});
  CHECK(batches.reaches(id, JobPhase::pending));
  CHECK(batches.reaches(id, JobPhase::done));
  CHECK_THAT(batches.log(job), Catch::Matchers::StartsWith("0\n"));
  CHECK_THAT(batches.log(job), Catch::Matchers::EndsWith("\n1\n"));
}

TEST_CASE("scheduler on slurm: a job without memory, or time, is told as that") {
  const auto cluster = SlurmCluster::shared();
  Batches batches(*cluster, "slurm");
  auto greedy = batches.job("head -c 300000000 /dev/zero | tail | wc -c");
  greedy.resources.memory_bytes = 50U << 20U;
  const std::string large = batches.scheduler.submit(greedy, never);
  auto endless = batches.job("trap 'echo term' TERM; while :; do sleep 0.2; done");
  endless.resources.time = std::chrono::hours(1);
  const std::string late = batches.scheduler.submit(endless, never);
  CHECK(batches.reaches(late, JobPhase::running));
  cluster->answer({"scontrol", "update", "JobId=" + late, "EndTime=now+1"});
  const std::string facts = text_of(cluster->folder() / "cluster.json");
  if (contains(facts, "\"control_groups\": true")) {
    CHECK(batches.reaches(large, JobPhase::out_of_memory));
  } else {
    WARN("no control groups of version 1 with controllers here");
  }
  CHECK(batches.reaches(late, JobPhase::timed_out));
  CHECK_THAT(batches.log(endless), Contains("term\n"));
}

TEST_CASE("scheduler on slurm: refusals come in its words with a hint, and limits are told") {
  const auto cluster = SlurmCluster::shared();
  spec::Site site;
  site.request = {{"partition", "nosuch"}};
  Batches batches(*cluster, "slurm", site);
  const auto error = error_of([&] { batches.scheduler.submit(batches.job("true"), never); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK_THAT(error.what(), Contains("Invalid partition name specified"));
  CHECK_THAT(error.hint(), Contains("sinfo"));
  Batches plain(*cluster, "slurm");
  auto greedy = plain.job("true");
  greedy.resources.memory_bytes = 1ULL << 50U;
  CHECK_THAT(error_of([&] { plain.scheduler.submit(greedy, never); }).hint(),
             Contains("no node of the partition has so much"));
  const auto largest = plain.scheduler.largest_array(never);
  REQUIRE(largest);
  auto array = plain.job("true");
  array.tasks = *largest + 1;
  CHECK_THAT(error_of([&] { plain.scheduler.submit(array, never); }).what(),
             Contains("Invalid job array specification"));
  array.tasks = *largest;
  CHECK_NOTHROW(plain.scheduler.cancel({plain.scheduler.submit(array, never)}, never));
}

TEST_CASE("scheduler on slurm: the caller's variables change nothing, and are not in the job") {
  const auto cluster = SlurmCluster::shared();
  Batches batches(*cluster, "slurm");
  base::Environment environment = environment_of(*cluster);
  environment.insert({{"SBATCH_PARTITION", "nosuch"},
                      {"SQUEUE_STATES", "PD"},
                      {"SLURM_NTASKS", "7"},
                      {"SECRET_OF_CALLER", "x"}});
  launch::Scheduler scheduler(shipped("slurm"), {}, batches.processes, environment);
  const auto job = batches.job("env");
  const std::string id = scheduler.submit(job, never);
  CHECK(batches.reaches(id, JobPhase::done));
  CHECK(scheduler.poll({id}, never).at(id).phase == JobPhase::done);
  CHECK_THAT(batches.log(job), !Contains("SECRET_OF_CALLER"));
  CHECK_THAT(batches.log(job), !Contains("SLURM_NTASKS=7"));
  CHECK_THAT(batches.log(job), Contains("\nHOME="));
}

TEST_CASE("scheduler on slurm: a controller that is deaf for a while takes a job only once") {
  const SlurmCluster cluster({"--nodes", "1"});
  Batches batches(cluster, "slurm");
  cluster.command({"pause-controller"});
  const auto job = batches.job("true");
  std::string id;
  std::jthread submission([&] { id = batches.scheduler.submit(job, never); });
  std::this_thread::sleep_for(std::chrono::seconds(8));  // beyond Slurm's own patience of 5 s
  cluster.command({"continue-controller"});
  submission.join();
  CHECK(batches.reaches(id, JobPhase::done));
  const std::string all = cluster.answer({"squeue", "-h", "-t", "all", "-o", "%k"});
  CHECK(all == job.comment);
}

TEST_CASE("scheduler on slurm: a controller that comes back takes a job that was refused") {
  const SlurmCluster cluster({"--nodes", "1"});
  Batches batches(cluster, "slurm");
  cluster.command({"stop-controller"});
  CHECK_THROWS_WITH(batches.scheduler.poll({"1"}, never),
                    Contains("Unable to contact slurm controller"));
  std::string id;
  std::jthread submission([&] { id = batches.scheduler.submit(batches.job("true"), never); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  cluster.command({"start-controller"});
  submission.join();
  CHECK(batches.reaches(id, JobPhase::done));
}

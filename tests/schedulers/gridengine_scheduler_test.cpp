// launch::Scheduler against a real Grid Engine, with the description that ships.

#include "batches.hpp"
#include "support/errors.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace sabath;
using namespace sabath::test;
using Catch::Matchers::Contains;
using launch::JobPhase;

TEST_CASE("scheduler on grid engine: jobs end well or badly, and are told when they left it") {
  const GridEngine cluster;
  Batches batches(cluster, "sge");
  const auto good = batches.job("echo \"$SABATH_JOB_ID $1\"");
  const std::string id = batches.scheduler.submit(good, never);
  const std::string bad = batches.scheduler.submit(batches.job("exit 3"), never);
  CHECK(batches.scheduler.find(good.comment, never) == id);
  CHECK(batches.reaches(id, JobPhase::done));
  CHECK(batches.reaches(bad, JobPhase::failed));
  CHECK(batches.log(good) == id + " 1\n");
  CHECK(batches.scheduler.find(good.comment, never) == id);
  CHECK(batches.view("99999") == launch::JobView{});
  const auto uses = batches.scheduler.accounting({id, "99999"}, never).uses;
  REQUIRE(uses.size() == 1);
  CHECK(uses.at(id).elapsed_s.has_value());
  CHECK(uses.at(id).max_rss_bytes.value_or(0) > 0);
  CHECK_FALSE(uses.at(id).nodes.empty());
}

TEST_CASE("scheduler on grid engine: an array has the indices from 1, a log each, and a limit") {
  const GridEngine cluster;
  spec::Site site;
  site.at_once = 1;
  Batches batches(cluster, "sge", site);
  auto job = batches.job("echo \"$SABATH_JOB_ID $1\"; test \"$1\" != 2");
  job.tasks = 3;
  const std::string id = batches.scheduler.submit(job, never);
  const auto& scheduler = batches.scheduler;
  CHECK(batches.reaches(scheduler.task_id(id, 3), JobPhase::done));
  CHECK(batches.reaches(scheduler.task_id(id, 2), JobPhase::failed));
  CHECK(batches.reaches(scheduler.task_id(id, 1), JobPhase::done));
  CHECK(batches.log(job, "3") == id + ".3 3\n");
  CHECK(batches.scheduler.largest_array(never).value_or(0) > 1000);
}

TEST_CASE("scheduler on grid engine: a job that waits for another, and tasks, are cancelled") {
  const GridEngine cluster;
  Batches batches(cluster, "sge");
  auto job = batches.job("trap 'echo term; exit 0' TERM; echo ready; sleep 100 & wait");
  job.tasks = 2;
  const std::string id = batches.scheduler.submit(job, never);
  REQUIRE(eventually([&] { return batches.log(job, "1") == "ready\n"; }));
  auto next = batches.job("true");
  next.tasks = 2;
  next.after = id;
  const std::string after = batches.scheduler.submit(next, never);
  const std::string task = batches.scheduler.task_id(id, 1);
  CHECK(batches.reaches(task, JobPhase::running));
  CHECK(batches.reaches(batches.scheduler.task_id(after, 1), JobPhase::pending));
  batches.scheduler.cancel({after, task, "99999"}, never);
  CHECK(eventually([&] { return batches.log(job, "1") == "ready\nterm\n"; }));
  CHECK(eventually([&] { return batches.view(task).phase != JobPhase::running; }));
  CHECK(batches.view(batches.scheduler.task_id(id, 2)).phase != JobPhase::unknown);
  CHECK(batches.view(batches.scheduler.task_id(after, 2)).phase == JobPhase::unknown);
  batches.scheduler.cancel({id}, never);
}

TEST_CASE("scheduler on grid engine: a job is warned before its time is over") {
  const GridEngine cluster;
  spec::Site site;
  site.warning = std::chrono::seconds(30);
  Batches batches(cluster, "sge", site);
  auto job = batches.job("trap 'echo term; exit 4' TERM; echo ready; sleep 100 & wait");
  job.resources.time = std::chrono::seconds(32);
  const std::string id = batches.scheduler.submit(job, never);
  CHECK(batches.reaches(id, JobPhase::failed));
  CHECK(batches.log(job) == "ready\nterm\n");
}

TEST_CASE("scheduler on grid engine: refusals come in its words with a hint") {
  const GridEngine cluster;
  spec::Site site;
  site.request = {{"queue", "nosuch"}};
  Batches batches(cluster, "sge", site);
  const auto error = error_of([&] { batches.scheduler.submit(batches.job("true"), never); });
  CHECK_THAT(error.what(), Contains("nosuch"));
  CHECK_THAT(error.hint(), Contains("qconf -sql"));
}

TEST_CASE("scheduler on grid engine: a master that comes back takes a job that was refused") {
  const GridEngine cluster;
  Batches batches(cluster, "sge");
  cluster.command({"stop-master"});
  CHECK_THROWS_AS(batches.scheduler.poll({"1"}, never), base::Error);
  std::string id;
  std::jthread submission([&] { id = batches.scheduler.submit(batches.job("true"), never); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  cluster.command({"start-master"});
  submission.join();
  CHECK(batches.reaches(id, JobPhase::done));
}

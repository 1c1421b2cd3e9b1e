// Faults of a cluster, and its end: each test has one of its own.

#include "jobs.hpp"
#include "support/errors.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>

using namespace sabath;
using namespace sabath::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* script = SABATH_SOURCE_DIR "/tests/support/slurm/cluster.py";

std::string state_of(const SlurmCluster& cluster, const std::string& node) {
  return cluster.answer({"sinfo", "-h", "-p", "debug", "-n", node, "-o", "%T"});
}

}  // namespace

TEST_CASE("slurm: jobs of a node that is lost are told as that, and it comes back") {
  const SlurmCluster cluster({"--nodes", "2"});
  const Jobs jobs{cluster};
  const std::string lost = jobs.submit("echo ready; sleep 1000", {"--no-requeue", "-w", "n1"});
  const std::string other = jobs.submit("sleep 1000", {"-w", "n2"});
  REQUIRE(eventually([&] { return jobs.output(lost) == "ready\n"; }));
  REQUIRE(jobs.reaches(other, "RUNNING"));
  cluster.command({"crash-node", "n1"});
  cluster.command({"down-node", "n1"});
  CHECK(jobs.reaches(lost, "NODE_FAIL"));
  CHECK(jobs.state(other) == "RUNNING");
  cluster.command({"boot-node", "n1"});
  cluster.command({"resume-node", "n1"});
  CHECK(eventually([&] { return state_of(cluster, "n1") == "idle"; }));
  CHECK(jobs.reaches(jobs.submit("true", {"-w", "n1"}), "COMPLETED"));
}

TEST_CASE("slurm: without slurmd a job goes on, and is ended once its node was given up") {
  const SlurmCluster cluster({"--nodes", "2", "--set", "SlurmdTimeout=2"});
  const Jobs jobs{cluster};
  const std::string job =
      jobs.submit("while :; do date >> ticks; sleep 0.2; done", {"--no-requeue", "-w", "n1"});
  REQUIRE(eventually([&] { return !text_of(jobs.folder / "ticks").empty(); }));
  cluster.command({"kill-slurmd", "n1"});
  CHECK(jobs.reaches(job, "NODE_FAIL"));
  const std::string then = text_of(jobs.folder / "ticks");
  CHECK(eventually([&] { return text_of(jobs.folder / "ticks") != then; }));
  cluster.command({"start-slurmd", "n1"});
  CHECK(eventually([&] { return contains(jobs.output(job), "DUE TO NODE FAILURE"); }));
}

TEST_CASE("slurm: a controller that comes back knows the jobs that went on without it") {
  const SlurmCluster cluster({"--nodes", "1"});
  const Jobs jobs{cluster};
  const std::string job = jobs.submit("echo ready; until [ -e go ]; do sleep 0.1; done; echo end");
  REQUIRE(eventually([&] { return jobs.output(job) == "ready\n"; }));
  cluster.command({"stop-controller"});
  CHECK(contains(cluster.run({"squeue"}).errors, "Unable to contact slurm controller"));
  write_text(jobs.folder / "go", "");
  CHECK(eventually([&] { return jobs.output(job) == "ready\nend\n"; }));
  cluster.command({"start-controller"});
  // The node tries to tell it every 15 s.
  CHECK(jobs.reaches(job, "COMPLETED", std::chrono::seconds(60)));
}

TEST_CASE("slurm: a controller that answers too late has taken the job all the same") {
  const SlurmCluster cluster({"--nodes", "1", "--set", "MessageTimeout=2"});
  const Jobs jobs{cluster};
  cluster.command({"pause-controller"});
  const auto answer = cluster.run({"sbatch", "--comment=unheard", "--wrap=true"});
  cluster.command({"continue-controller"});
  CHECK_FALSE(answer.ok());
  CHECK(contains(answer.errors, "Socket timed out"));
  CHECK(eventually([&] {
    return cluster.answer({"squeue", "-h", "-t", "all", "-o", "%k"}) == "unheard";
  }));
}

TEST_CASE("slurm: nothing is left of a cluster whose owner is killed") {
  const TempHome folder;
  const std::string path = (folder / "cluster").string();
  Running owner(
      {"/bin/sh",
       "-c",
       std::string("\"$1\" start \"$0\" --owner $$ --nodes 2 >/dev/null && exec sleep 1000"),
       path,
       script},
      base::current_environment(),
      folder / "out",
      folder / "err");
  const bool started =
      eventually([&] { return fs::exists(path + "/cluster.json"); }, std::chrono::seconds(60));
  INFO(text_of(folder / "err"));
  REQUIRE(started);
  const auto document = nlohmann::json::parse(text_of(path + "/cluster.json"));
  const int supervisor = document.at("supervisor").get<int>();
  const auto pids = document.at("pids").get<std::map<std::string, int>>();
  REQUIRE(pids.size() == 4);
  REQUIRE(is_alive(supervisor));
  base::Command job;
  job.argv = {"sbatch", "-o", "/dev/null", "--wrap=sleep 42424242"};
  job.environment = base::current_environment();
  (*job.environment)["SLURM_CONF"] = path + "/slurm.conf";
  REQUIRE(base::SystemProcessRunner().run(job).ok());
  REQUIRE(eventually([] { return !processes_with("42424242").empty(); }));
  owner.signal(SIGKILL);
  CHECK(eventually([&] { return !is_alive(supervisor); }));
  for (const auto& [name, pid] : pids) {
    INFO(name);
    CHECK_FALSE(is_alive(pid));
  }
  CHECK(processes_with("42424242").empty());
  CHECK_FALSE(fs::exists(path));
}

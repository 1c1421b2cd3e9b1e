// What a cluster that all tests share does with jobs.

#include "jobs.hpp"

#include "support/errors.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <sstream>

using namespace sabath;
using namespace sabath::test;
namespace fs = std::filesystem;

namespace {

struct SharedCluster {
  std::unique_ptr<SlurmCluster> cluster = SlurmCluster::shared();
  Jobs jobs{*cluster};
};

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.insert(line);
  return lines;
}

}  // namespace

TEST_CASE("slurm: a job runs on a node with a name, processes and a scratch folder of its own") {
  const SharedCluster shared;
  const std::string scratch = shared.cluster->scratch().string();
  const std::string job = shared.jobs.submit(
      "hostname; ls /proc | grep -c '^[0-9]*$'; echo here > " + scratch + "/$SLURM_JOB_ID",
      {"-w", "n3"});
  REQUIRE(shared.jobs.reaches(job, "COMPLETED"));
  std::istringstream output(shared.jobs.output(job));
  std::string host;
  int processes = 0;
  output >> host >> processes;
  CHECK(host == "n3");
  CHECK(processes > 2);
  CHECK(processes < 30);
  CHECK(text_of(shared.cluster->scratch_of("n3") / job) == "here\n");
  CHECK_FALSE(fs::exists(fs::path(scratch) / job));
  CHECK_FALSE(fs::exists(shared.cluster->scratch_of("n1") / job));
}

TEST_CASE("slurm: an array of eight tasks runs two at a time") {
  const SharedCluster shared;
  const std::string job = shared.jobs.submit(
      "echo task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_JOB_ID; sleep 0.2", {"--array=0-7%2"});
  std::string all_done = "COMPLETED";
  for (int i = 1; i < 8; ++i)
    all_done += "\nCOMPLETED";
  std::size_t most = 0;
  REQUIRE(eventually([&] {
    const auto states = lines_of(shared.jobs.state(job));
    most = std::max(most, states.count("RUNNING"));
    return states.count("COMPLETED") == 8;
  }));
  CHECK(most <= 2);
  CHECK(shared.jobs.state(job) == all_done);
  for (int i = 0; i < 8; ++i) {
    const std::string task = std::to_string(i);
    CHECK(shared.jobs.output(job + "_" + task) == "task " + task + " of " + job + "\n");
  }
}

TEST_CASE("slurm: srun starts a job's tasks on two nodes") {
  const SharedCluster shared;
  const std::string job =
      shared.jobs.submit("srun sh -c 'echo $SLURM_PROCID $(hostname)'", {"-N2", "-n2"});
  REQUIRE(shared.jobs.reaches(job, "COMPLETED"));
  const auto lines = lines_of(shared.jobs.output(job));
  std::set<std::string> hosts;
  for (const std::string& line : lines)
    hosts.insert(line.substr(2));
  CHECK(lines.size() == 2);
  CHECK(hosts.size() == 2);
}

TEST_CASE("slurm: a job that is requeued starts again soon and knows how often") {
  const SharedCluster shared;
  const std::string job = shared.jobs.submit(
      "echo attempt ${SLURM_RESTART_COUNT:-0}; [ \"$SLURM_RESTART_COUNT\" ] || sleep 100");
  REQUIRE(eventually([&] { return shared.jobs.output(job) == "attempt 0\n"; }));
  shared.cluster->answer({"scontrol", "requeue", job});
  REQUIRE(shared.jobs.reaches(job, "COMPLETED"));
  CHECK(contains(shared.jobs.output(job), "DUE TO JOB REQUEUE"));
  CHECK(contains(shared.jobs.output(job), "attempt 1\n"));
}

TEST_CASE("slurm: a job of a higher partition takes the nodes of a low one, which starts again") {
  SlurmCluster cluster({"--nodes", "1"});
  const Jobs jobs{cluster};
  const std::string low =
      jobs.submit("echo ${SLURM_RESTART_COUNT:-0}; [ \"$SLURM_RESTART_COUNT\" ] || sleep 100",
                  {"-p", "low", "--exclusive"});
  REQUIRE(jobs.reaches(low, "RUNNING"));
  const std::string urgent = jobs.submit("true", {"-p", "urgent", "--exclusive"});
  CHECK(jobs.reaches(urgent, "COMPLETED"));
  CHECK(jobs.reaches(low, "COMPLETED"));
  CHECK(contains(cluster.answer({"scontrol", "show", "job", low}), "Restarts=1"));
}

TEST_CASE("slurm: squeue tells a job's comment, in lines and as JSON") {
  const SharedCluster shared;
  const std::string job = shared.jobs.submit("exit 3", {"--comment=run=a|b"});
  REQUIRE(shared.jobs.reaches(job, "FAILED"));
  CHECK(shared.cluster->answer({"squeue", "-h", "-t", "all", "-o", "%i|%T|%r|%k", "-j", job}) ==
        job + "|FAILED|NonZeroExitCode|run=a|b");
  const auto document = nlohmann::json::parse(shared.cluster->answer({"squeue", "--json"}));
  bool found = false;
  for (const auto& each : document.at("jobs")) {
    if (std::to_string(each.at("job_id").get<int>()) != job) continue;
    found = true;
    CHECK(each.at("comment") == "run=a|b");
    CHECK(each.at("job_state") == "FAILED");
  }
  CHECK(found);
}

TEST_CASE("slurm: scancel ends a job, which is told by SIGTERM") {
  const SharedCluster shared;
  const std::string job =
      shared.jobs.submit("trap 'echo told; exit 0' TERM; echo ready; sleep 100 & wait");
  REQUIRE(eventually([&] { return shared.jobs.output(job) == "ready\n"; }));
  shared.cluster->answer({"scancel", "--full", job});
  REQUIRE(shared.jobs.reaches(job, "CANCELLED"));
  CHECK(contains(shared.jobs.output(job), "told\n"));
}

TEST_CASE("slurm: a job that asks for GPUs is told which, and no more than there are") {
  const SlurmCluster cluster({"--nodes", "1", "--gpus", "2"});
  const Jobs jobs{cluster};
  const std::string both = jobs.submit("echo $CUDA_VISIBLE_DEVICES", {"--gpus=2"});
  const std::string none = jobs.submit("echo ${CUDA_VISIBLE_DEVICES-unset}");
  REQUIRE(jobs.reaches(both, "COMPLETED"));
  REQUIRE(jobs.reaches(none, "COMPLETED"));
  CHECK(jobs.output(both) == "0,1\n");
  CHECK(jobs.output(none) == "unset\n");
  CHECK_FALSE(cluster.run({"sbatch", "--gpus=3", "--wrap=true"}).ok());
}

TEST_CASE("slurm: a job past its memory is killed, where control groups are at hand") {
  const SharedCluster shared;
  const auto document = nlohmann::json::parse(text_of(shared.cluster->folder() / "cluster.json"));
  if (!document.at("control_groups").get<bool>()) {
    WARN("no control groups of version 1 with controllers here");
    return;
  }
  const std::string job = shared.jobs.submit("head -c 300M /dev/zero | tail", {"--mem=60"});
  REQUIRE(shared.jobs.reaches(job, "OUT_OF_MEMORY"));
  CHECK(contains(shared.jobs.output(job), "oom-kill event"));
}

TEST_CASE("slurm: a job that is out of time is told by SIGTERM, then ended") {
  const SharedCluster shared;
  const std::string job = shared.jobs.submit("trap 'echo told' TERM; while :; do sleep 0.1; done");
  REQUIRE(shared.jobs.reaches(job, "RUNNING"));
  // Limits are minutes, and looked at every 30 s.
  shared.cluster->answer({"scontrol", "update", "jobid=" + job, "EndTime=now+1"});
  REQUIRE(shared.jobs.reaches(job, "TIMEOUT", std::chrono::seconds(60)));
  CHECK(contains(shared.jobs.output(job), "DUE TO TIME LIMIT"));
  CHECK(contains(shared.jobs.output(job), "told\n"));
}

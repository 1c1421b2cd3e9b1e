// Stages with ranks: the real mpirun, the way of torchrun, and a stand-in for srun whose ranks are
// on nodes that exec does not see.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <set>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// mpirun as root, on fewer cores than it has ranks.
void let_mpirun(Sabath& sabath) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT",
                           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe",
                           "OMPI_MCA_mpi_yield_when_idle"})
    sabath.environment()[name] = "1";
  sabath.environment()["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe";
}

std::string recipe(const Sabath& sabath,
                   const std::string& line,
                   const std::string& parallel,
                   int tasks,
                   int nodes = 1) {
  const json stage = {{"parallel", parallel}, {"resources", {{"tasks", tasks}, {"nodes", nodes}}}};
  return sabath.shell_recipe("toy", line, "{}", stage.dump());
}

json record_of(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

fs::path stage_folder(const Sabath& sabath) {
  return sabath.run_directories().back() / "attempts" / "1" / "go";
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.insert(line);
  return lines;
}

/// Starts the ranks of two nodes out of sight of exec.
void put_srun(Sabath& sabath) {
  const fs::path folder = sabath.folder() / "tools";
  fs::create_directories(folder);
  write_text(folder / "srun", R"(#!/bin/bash
tasks=0
while [ "${1#--}" != "$1" ]; do
  case $1 in --ntasks=*) tasks=${1#--ntasks=};; esac
  shift
done
worst=0
for ((rank = 0; rank < tasks; ++rank)); do
  SABATH_EXECUTOR=none SLURM_PROCID=$rank SLURM_LOCALID=$((rank % 2)) SLURMD_NODENAME=n$((rank / 2)) "$@" &
  pids[$rank]=$!
done
trap 'kill -TERM "${pids[@]}"; wait; exit 143' TERM
for pid in "${pids[@]}"; do wait "$pid" || worst=$?; done
exit $worst
)");
  fs::permissions(folder / "srun", fs::perms::owner_all);
  sabath.environment()["PATH"] = folder.string() + ":" + sabath.environment()["PATH"];
  sabath.environment()["SLURM_JOB_ID"] = "7";
}

}  // namespace

TEST_CASE("ranks: mpirun starts them, and each has metrics of its own") {
  Sabath sabath;
  let_mpirun(sabath);
  const Answer answer = sabath(
      {"run",
       recipe(
           sabath,
           R"(echo "{{\"loss\": $SABATH_RANK}}" >> $SABATH_METRICS; echo $OMPI_COMM_WORLD_RANK-$SABATH_RANK)",
           "auto",
           4)});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const json record = record_of(sabath);
  CHECK(record["stages"][0]["prefix"] == json{"mpirun", "-n", "4"});
  CHECK(record["stages"][0]["argv"][0] == "/bin/sh");
  CHECK(record["hosts"].size() == 1);
  CHECK(record["metrics"][0]["points"] == 4);
  for (int rank = 0; rank < 4; ++rank)
    CHECK(fs::exists(stage_folder(sabath) / ("metrics-" + std::to_string(rank) + ".jsonl")));
  CHECK(lines_of(text_of(stage_folder(sabath) / "stdout.log")) ==
        std::set<std::string>{"0-0", "1-1", "2-2", "3-3"});
}

TEST_CASE("ranks: a rank that fails fails the stage") {
  Sabath sabath;
  let_mpirun(sabath);
  const Answer answer =
      sabath({"run", recipe(sabath, "[ $SABATH_RANK = 0 ] || exit 7", "mpirun", 2)});
  CHECK(answer.status == 1);
  CHECK(record_of(sabath)["stages"][0]["exit_code"] == 7);
  CHECK(record_of(sabath)["message"] ==
        "stage go: rank 1 exited with status 7 (mpirun exited with status 7)");
}

TEST_CASE("ranks: torchrun's way needs no torchrun, and one that fails takes the others along") {
  Sabath sabath;
  const std::string line =
      "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR; "
      "[ $MASTER_PORT -gt 0 ]";
  SECTION("all well") {
    const Answer answer = sabath({"run", recipe(sabath, line, "torchrun", 3)});
    INFO(answer.errors);
    REQUIRE(answer.status == 0);
    CHECK(
        lines_of(text_of(stage_folder(sabath) / "stdout.log")) ==
        std::set<std::string>{"0 0 3 3 0 127.0.0.1", "1 1 3 3 0 127.0.0.1", "2 2 3 3 0 127.0.0.1"});
    CHECK(record_of(sabath)["stages"][0]["prefix"] == json::array());
  }
  SECTION("one fails") {
    const Answer answer =
        sabath({"run", recipe(sabath, "[ $RANK = 1 ] && exit 3; exec sleep 60", "torchrun", 3)});
    CHECK(answer.status == 1);
    CHECK(record_of(sabath)["stages"][0]["exit_code"] == 3);
    CHECK_THAT(record_of(sabath)["message"].get<std::string>(),
               Contains("stage go: rank 1 on ") && Contains(" exited with status 3"));
    CHECK(record_of(sabath)["wall_s"].get<double>() < 30);
  }
}

TEST_CASE("ranks: each that cannot be started says so") {
  Sabath sabath;
  const json stage = {{"name", "go"},
                      {"run", {"/no/such/program"}},
                      {"parallel", GENERATE("torchrun", "mpirun")},
                      {"resources", {{"tasks", 2}}}};
  let_mpirun(sabath);
  const json document = {{"schema", 1},
                         {"name", "toy"},
                         {"environment", {{"layers", json::array()}}},
                         {"stages", json::array({stage})}};
  CHECK(sabath({"run", sabath.recipe("toy", document.dump())}).status == 1);
  CHECK_THAT(text_of(stage_folder(sabath) / "stderr.log"),
             Contains("'/no/such/program' cannot be started: No such file or directory"));
}

TEST_CASE("ranks: nodes that exec cannot see tell who they are and what was used there") {
  Sabath sabath;
  put_srun(sabath);
  const Answer answer =
      sabath({"run",
              recipe(sabath,
                     "echo $SABATH_RANK on $SLURMD_NODENAME; echo '{{\"x\": 1}}' > $SABATH_METRICS",
                     "auto",
                     4,
                     2)});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const json record = record_of(sabath);
  CHECK(record["stages"][0]["prefix"] ==
        json{"srun", "--nodes=2", "--ntasks=4", "--kill-on-bad-exit=1"});
  std::set<std::string> nodes;
  for (const json& host : record["hosts"])
    nodes.insert(host["node"]);
  CHECK(nodes.size() == 3);  // with exec's own
  CHECK(nodes.count("n0") + nodes.count("n1") == 2);
  for (const char* node : {"n0", "n1"}) {
    CHECK(fs::exists(stage_folder(sabath).parent_path() / ("host-" + std::string(node) + ".json")));
    CHECK(fs::exists(stage_folder(sabath) / ("samples-" + std::string(node) + ".jsonl")));
    CHECK(fs::exists(stage_folder(sabath) / ("node-" + std::string(node) + ".json")));
  }
  CHECK(record["usage"]["samples"].get<int>() >= 3);
  CHECK(record["metrics"][0]["points"] == 4);
  CHECK(lines_of(text_of(stage_folder(sabath) / "stdout.log")) ==
        std::set<std::string>{"0 on n0", "1 on n0", "2 on n1", "3 on n1"});
}

TEST_CASE("ranks: an end by a signal and an exit status reach whoever started the rank") {
  Sabath sabath;
  put_srun(sabath);
  const auto code = [&](const std::string& line) {
    sabath({"run", recipe(sabath, line, "srun", 2)});
    return record_of(sabath)["stages"][0]["exit_code"].get<int>();
  };
  CHECK(code("[ $SABATH_RANK = 0 ] && kill -SEGV $$; true") == 128 + SIGSEGV);
  CHECK(code("[ $SABATH_RANK = 0 ] && exit 9; true") == 9);
  CHECK(code("[ $SABATH_RANK = 1 ] && exit 5; true") == 5);
  CHECK(record_of(sabath)["message"] ==
        "stage go: srun, which started the ranks, exited with status 5");
}

TEST_CASE("ranks: of ranks that sabath starts none is said to have failed that was ended") {
  Sabath sabath;
  Running running = sabath.start({"run", recipe(sabath, "echo up; exec sleep 60", "torchrun", 2)});
  REQUIRE(eventually([&] {
    return sabath.count_runs() == 1 && text_of(stage_folder(sabath) / "stdout.log") == "up\nup\n";
  }));
  running.signal(SIGINT);
  CHECK(running.wait().status == 130);
  CHECK(text_of(stage_folder(sabath) / "stderr.log").empty());
}

TEST_CASE("ranks: a stop reaches all of them") {
  Sabath sabath;
  put_srun(sabath);
  const std::string line = "trap 'echo term $SABATH_RANK; exit 0' TERM; echo up; sleep 60 & wait";
  Running running = sabath.start({"run", recipe(sabath, line, "srun", 2)});
  REQUIRE(eventually([&] {
    return sabath.count_runs() == 1 && text_of(stage_folder(sabath) / "stdout.log") == "up\nup\n";
  }));
  running.signal(SIGINT);
  CHECK(running.wait().status == 130);
  CHECK(record_of(sabath)["state"] == "interrupted");
  CHECK(lines_of(text_of(stage_folder(sabath) / "stdout.log")) ==
        std::set<std::string>{"up", "term 0", "term 1"});
}

TEST_CASE("cli: copies on a node are this node's though it was handed another's name") {
  Sabath sabath;
  // In place of ATTEMPT/.copies.json, for nothing that is to be copied.
  const fs::path file = sabath.folder() / "run/attempts/1/.copies.json";
  fs::create_directories(file.parent_path());
  write_text(file, R"({"folder": "/tmp", "holder": "run", "items": []})");
  sabath.environment()["SLURMD_NODENAME"] = "first";
  sabath.environment()["SABATH_EXECUTOR_NODE"] = "first";
  const bool is_elsewhere = GENERATE(false, true);
  if (is_elsewhere) sabath.environment()["SABATH_EXECUTOR"] = "elsewhere.boot.1.1.1";
  const Answer answer = sabath({"exec", "--copies", "make", file.string()});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(fs::exists(file.parent_path() / ".copied-first") != is_elsewhere);
}

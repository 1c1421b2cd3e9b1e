// Runs that are interrupted or killed: never lost, and nothing goes on behind anybody's back.
#include "support/planned_batch.hpp"
#include "support/program.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A sleep of a length that no other process of the machine has; killed at the end of the test.
class Sleep {
 public:
  explicit Sleep(int base) : seconds_(std::to_string(base + ::getpid())) {}
  ~Sleep() {
    for (const int pid : processes())
      ::kill(pid, SIGKILL);
  }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

  std::string command() const { return "sleep " + seconds_; }
  std::vector<int> processes() const {
    return processes_with("sleep" + std::string(1, '\0') + seconds_);
  }

 private:
  std::string seconds_;
};

int executor_pid(const Sabath& sabath) {
  const json status = json::parse(sabath.newest("status.json"));
  return status["pid"].get<int>();
}

json only_run_listed(const Sabath& sabath) {
  const Answer answer = sabath({"--json", "list"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const json runs = json::parse(answer.output)["runs"];
  REQUIRE(runs.size() == 1);
  return runs[0];
}

}  // namespace

TEST_CASE("cli: Ctrl-C ends the run and all its processes, the record says interrupted") {
  Sabath sabath;
  const Sleep sleep(1'000'000);
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  Running running = sabath.start(
      {"run", sabath.shell_recipe("sleeper", sleep.command() + " & wait"), "--repeat", "3"});
  REQUIRE(eventually([&] { return !sleep.processes().empty(); }));
  running.signal(number);
  const Answer answer = running.wait();
  CHECK(answer.status == 130);
  CHECK(sleep.processes().empty());
  CHECK(sabath.count_runs() == 1);
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "interrupted");
  CHECK(record["stages"][0]["state"] == "interrupted");
  CHECK(only_run_listed(sabath)["state"] == "interrupted");
}

TEST_CASE("cli: a hang-up ends a run as SIGTERM does: its stage is told, and a record says so") {
  Sabath sabath;
  const Sleep sleep(7'000'000);
  const std::string line = "trap 'echo told; exit 0' TERM; " + sleep.command() + " & wait";
  Running running = sabath.start({"run", sabath.shell_recipe("sleeper", line)});
  REQUIRE(eventually([&] { return !sleep.processes().empty(); }));
  ::kill(executor_pid(sabath), SIGHUP);
  CHECK(running.wait().status == 130);
  CHECK(json::parse(sabath.newest())["state"] == "interrupted");
  CHECK(text_of(sabath.run_directories().back() / "attempts/1/go/stdout.log") == "told\n");
}

TEST_CASE("cli: SIGUSR1 and SIGUSR2 are the stage's, and do not end who executes it") {
  Sabath sabath;
  const std::string line =
      "trap 'echo saved > {output}/saved' USR1; trap 'echo end > {output}/end' USR2; echo up; "
      "while [ ! -e {output}/end ]; do sleep 0.1 || true; done";
  const auto folder = sabath.shell_recipe("saver", line, "{}", R"({"outputs": ["saved", "end"]})");
  Running running = sabath.start({"run", folder});
  REQUIRE(eventually([&] { return sabath.count_runs() == 1; }));
  const fs::path run = sabath.run_directories().back();
  REQUIRE(eventually([&] { return text_of(run / "attempts/1/go/stdout.log") == "up\n"; }));
  const int executor = executor_pid(sabath);
  ::kill(executor, SIGUSR1);
  REQUIRE(eventually([&] { return fs::exists(run / "outputs/go/saved"); }));
  ::kill(executor, SIGUSR2);
  const Answer answer = running.wait();
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK(json::parse(sabath.newest())["state"] == "ok");
}

TEST_CASE("cli: SIGUSR1 that comes to a job reaches the stages of all runs that it packs") {
  Sabath sabath;
  const std::string line =
      "trap 'echo saved > {output}/saved' USR1; echo up; "
      "while [ ! -e {output}/saved ]; do sleep 0.1 || true; done";
  PlannedBatch batch(sabath, sabath.shell_recipe("saver", line), 2, 2);
  batch.be_job("1");
  Running running = sabath.start(batch.command());
  const auto is_up = [&](std::size_t run) {
    return text_of(batch.run(run).attempt(1) / "go/stdout.log") == "up\n";
  };
  REQUIRE(eventually([&] { return is_up(0) || is_up(1); }));
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1) REQUIRE(eventually([&] { return is_up(0) && is_up(1); }));
  running.signal(SIGUSR1);
  if (sysconf(_SC_NPROCESSORS_ONLN) == 1) {
    REQUIRE(eventually([&] { return is_up(0) && is_up(1); }));
    running.signal(SIGUSR1);
  }
  CHECK(running.wait().status == 0);
  CHECK(batch.record(0)["state"] == "ok");
  CHECK(batch.record(1)["state"] == "ok");
}

TEST_CASE("cli: a run whose executor was killed is closed as lost by the next command") {
  Sabath sabath;
  const Sleep sleep(2'000'000);
  Running running =
      sabath.start({"run", sabath.shell_recipe("sleeper", "exec " + sleep.command())});
  REQUIRE(eventually([&] { return sleep.processes().size() == 1; }));
  ::kill(executor_pid(sabath), SIGKILL);
  const Answer answer = running.wait();
  CHECK(answer.status == 14);
  CHECK_THAT(answer.output, Contains("lost") && !Contains("0 us"));
  CHECK(only_run_listed(sabath)["state"] == "lost");
  CHECK_THAT(sabath({"show", "@last"}).output, Contains("lost") && Contains("stage go"));
  CHECK(sleep.processes().empty());
}

TEST_CASE("cli: a lost run has a record of what it was and of what it had reported") {
  Sabath sabath;
  const Sleep sleep(5'000'000);
  const auto folder = sabath.shell_recipe(
      "sleeper",
      R"(echo '{{"step": 1, "loss": 0.5}}' >> $SABATH_METRICS; exec )" + sleep.command(),
      R"({"parameters": {"n": {"type": "int", "default": 3}},
          "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  Running running = sabath.start({"run", folder, "--seed", "7", "--set", "n=4"});
  REQUIRE(eventually([&] { return sleep.processes().size() == 1; }));
  ::kill(executor_pid(sabath), SIGKILL);
  CHECK(running.wait().status == 14);
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "lost");
  CHECK(record["seed"]["value"] == 7);
  CHECK(record["parameters"]["n"] == 4);
  CHECK(record["stages"][0]["state"] == "interrupted");
  CHECK(record["metrics"][0]["last"] == 0.5);
  CHECK(record["hosts"].size() == 1);
  CHECK_THAT(sabath({"show", "@last"}).output,
             Contains("--seed 7") && Contains("n = 4") && Contains("loss") && !Contains("took") &&
                 !Contains("0 us") && !Contains("0 B"));
  CHECK(sabath({"compare", "@last", "@last"}).status != 0);
  CHECK_THAT(sabath({"repro", "@last"}).errors, Contains("the run is lost"));
  const Answer collected = sabath({"--json", "collect", "@last"});
  CHECK(collected.status == 0);
  CHECK(json::parse(collected.output)["metrics"][0]["last"] == 0.5);
}

TEST_CASE(
    "cli: what a lost run left is ended before another takes its place, whatever it ignores") {
  Sabath sabath;
  const Sleep sleep(6'000'000);
  const auto folder = sabath.shell_recipe(
      "stubborn",
      "trap '' TERM; test {param.n} != 2 || test -e " + (sabath.folder() / "gate").string() +
          " || " + sleep.command() + "; true",
      R"({"parameters": {"n": {"type": "int", "default": 0}}})");
  std::string study;
  {
    Running running = sabath.start({"run", folder, "--sweep", "n=1,2"});
    REQUIRE(eventually([&] { return sleep.processes().size() == 1; }));
    running.signal(SIGKILL);
    running.wait();
    ::kill(executor_pid(sabath), SIGKILL);
  }
  for (const auto& entry : fs::directory_iterator(sabath.home() / "studies"))
    study = entry.path().filename();
  CHECK(sleep.processes().size() == 1);  // SIGTERM was not enough
  write_text(sabath.folder() / "gate", "");
  const Answer answer = sabath({"run", "--resume", study});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 0);
  CHECK(sleep.processes().empty());
  CHECK_THAT(answer.errors, Contains("that it had left were ended"));
}

TEST_CASE("cli: a run is closed as lost too when both its processes were killed") {
  Sabath sabath;
  const Sleep sleep(3'000'000);
  {
    Running running =
        sabath.start({"run", sabath.shell_recipe("sleeper", "exec " + sleep.command())});
    REQUIRE(eventually([&] { return !sleep.processes().empty(); }));
    running.signal(SIGKILL);
    running.wait();
    ::kill(executor_pid(sabath), SIGKILL);
  }
  CHECK(eventually([&] { return only_run_listed(sabath)["state"] == "lost"; }));
  CHECK(json::parse(sabath.newest())["state"] == "lost");
  CHECK(sabath({"catalog", "reindex"}).status == 0);
  CHECK(only_run_listed(sabath)["state"] == "lost");
}

TEST_CASE("cli: a run goes on when the command that started it is killed, and is indexed later") {
  Sabath sabath;
  const auto gate = sabath.folder() / "gate";
  const auto folder = sabath.shell_recipe(
      "patient", "while [ ! -e " + gate.string() + " ]; do sleep 0.02; done; echo through");
  Running running = sabath.start({"run", folder});
  REQUIRE(
      eventually([&] { return sabath.newest("status.json").find("\"go\"") != std::string::npos; }));
  running.signal(SIGKILL);
  CHECK(running.wait().status == 128 + SIGKILL);
  CHECK(only_run_listed(sabath)["state"] == "running");
  write_text(gate, "");
  CHECK(eventually([&] { return !sabath.newest().empty(); }));
  CHECK(eventually([&] { return only_run_listed(sabath)["state"] == "ok"; }));
}

TEST_CASE("cli: a stage that makes a daemon is through when its program is, the daemon is ended") {
  Sabath sabath;
  const auto pid_file = sabath.folder() / "pid";
  const Answer answer = sabath(
      {"run",
       sabath.shell_recipe("daemons", SABATH_TEST_PROGRAMS "/daemonise " + pid_file.string())});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "ok");
  CHECK(record["stages"][0]["leftovers"] == 1);
  CHECK(record["wall_s"].get<double>() < 100);  // it would stay for 120 s
  CHECK_FALSE(is_alive(std::stoi(text_of(pid_file))));
}

TEST_CASE("cli: when a stage's own program is killed the run says by which signal") {
  Sabath sabath;
  const Sleep sleep(4'000'000);
  Running running =
      sabath.start({"run", sabath.shell_recipe("sleeper", "exec " + sleep.command())});
  REQUIRE(eventually([&] { return sleep.processes().size() == 1; }));
  ::kill(sleep.processes().front(), SIGKILL);
  CHECK(running.wait().status == 1);
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "failed");
  CHECK(record["stages"][0]["signal"] == SIGKILL);
  CHECK(only_run_listed(sabath)["state"] == "failed");
}

TEST_CASE("cli: an interrupted fetch leaves nothing that passes for complete") {
  Sabath sabath;
  const auto big = sabath.folder() / "big";
  write_text(big, "");
  fs::resize_file(big, std::uintmax_t{8} << 30U);
  Running running = sabath.start({"fetch", "file://" + big.string()});
  REQUIRE(eventually([&] {
    return fs::exists(sabath.cache() / "partial") && !fs::is_empty(sabath.cache() / "partial");
  }));
  const int number = GENERATE(SIGINT, SIGKILL);
  running.signal(number);
  CHECK(running.wait().status == (number == SIGINT ? 130 : 128 + SIGKILL));
  const Answer verified = sabath({"verify", "--full"});
  CHECK(verified.status == 0);
  CHECK_THAT(verified.output, Contains("0 objects"));
}

TEST_CASE(
    "cli: the folder of a run from elsewhere ends no process of another run, or of nobody's") {
  Sabath sabath;
  const Sleep sleep(8'000'000);
  Running running =
      sabath.start({"run", sabath.shell_recipe("sleeper", sleep.command() + " & wait")});
  REQUIRE(eventually([&] {
    return !sleep.processes().empty() &&
           json::parse(sabath.newest("status.json"))["state"] == "running";
  }));
  const std::vector<int> sleeping = sleep.processes();
  const fs::path run = sabath.run_directories().front();
  const Sabath other;
  const fs::path copy = other.runs() / run.filename();
  const auto plant = [&](const std::string& process) {
    fs::remove_all(other.home());
    fs::create_directories(other.runs());
    fs::copy(run, copy, fs::copy_options::recursive);
    json status = json::parse(sabath.newest("status.json"));
    status["process"] = process;
    write_text(copy / "status.json", status.dump());
  };
  // It names a process that is nobody's executor.
  plant(sabath::base::ProcessIdentity::of(sleeping.front()).text());
  other({"cancel", run.filename().string()});
  CHECK(sleep.processes() == sleeping);
  // It names one that is gone: what the run of the same id left is that of the other home.
  auto gone = sabath::base::ProcessIdentity::current();
  gone.start_ticks += 1;
  plant(gone.text());
  const Answer listed = other({"list", "runs"});
  CHECK_THAT(listed.output, Contains("lost"));
  CHECK(sleep.processes() == sleeping);
  running.signal(SIGTERM);
  CHECK(running.wait().status == 130);
  CHECK_THAT(json::parse(sabath.newest())["message"].get<std::string>(),
             Contains(" was stopped: the run was ended by 'sabath cancel', Ctrl-C or its job"));
}

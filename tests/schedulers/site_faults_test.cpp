// Faults of a site while runs are under way: each test has a Slurm of its own.
#include "site_user.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/process/process.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A user whose run has begun.
struct RunUnderWay {
  explicit RunUnderWay(const std::string& line,
                       const std::vector<std::string>& options,
                       json site = json::object())
      : user(std::make_unique<SlurmCluster>(options), std::move(site)) {
    const std::string recipe = user.sabath.shell_recipe("slow", line);
    REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
    run = user.sabath.run_directories().back();
    REQUIRE(eventually([&] { return fs::exists(run / "attempts/1/go/stdout.log"); },
                       std::chrono::seconds(30)));
  }
  std::string node() const {
    return user.cluster->answer({"squeue", "-h", "-t", "all", "-o", "%N", "-j", user.job_of(run)});
  }

  SiteUser user;
  fs::path run{};
};

/// A file system of a few MiB. Wants root.
class SmallDisk {
 public:
  SmallDisk() {
    must({"mount", "-t", "tmpfs", "-o", "size=4m,mode=0755", "none", path().string()});
  }
  ~SmallDisk() { base::SystemProcessRunner().run(command({"umount", "-l", path().string()})); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  fs::path path() const { return folder_.path(); }
  void fill() const {
    base::SystemProcessRunner().run(
        command({"dd", "if=/dev/zero", "of=" + (path() / "ballast").string(), "bs=64k"}));
    base::SystemProcessRunner().run(
        command({"sh", "-c", "while echo x >> " + (path() / "rest").string() + "; do :; done"}));
  }
  void empty() const {
    fs::remove(path() / "ballast");
    fs::remove(path() / "rest");
  }

 private:
  static base::Command command(std::vector<std::string> argv) {
    base::Command command;
    command.argv = std::move(argv);
    command.deadline = std::chrono::seconds(60);
    return command;
  }
  static void must(std::vector<std::string> argv) {
    REQUIRE(base::SystemProcessRunner().run(command(std::move(argv))).ok());
  }

  TempHome folder_{};
};

}  // namespace

TEST_CASE("site faults: the controller stops and comes back while a run goes on") {
  // squeue itself gives up after 8 s.
  RunUnderWay slow("sleep 25", {"--nodes", "1"});
  slow.user.cluster->command({"stop-controller"});
  const Answer during = slow.user.sabath({"status", "--json"});
  CHECK(during.status == 0);
  INFO(during.output << during.errors);
  CHECK(json::parse(during.output)["runs"][0]["goes_on"] == true);
  slow.user.cluster->command({"start-controller"});
  CHECK(slow.user.json_of({"wait", slow.run.filename().string(), "--timeout", "70s"})["counts"] ==
        json{{"ok", 1}});
}

TEST_CASE("site faults: a node is lost, and the run begins anew on another") {
  RunUnderWay slow("echo on $(hostname); test $SABATH_ATTEMPT -gt 1 || sleep 100",
                   {"--nodes", "2"});
  const std::string lost = slow.node();
  slow.user.cluster->command({"crash-node", lost});
  slow.user.cluster->command({"down-node", lost});
  const json end = slow.user.json_of({"wait", "--timeout", "80s"});
  CHECK(end["counts"] == json{{"ok", 1}});
  CHECK(text_of(slow.run / "attempts/2/go/stdout.log") != "on " + lost + "\n");
  CHECK(slow.user.sabath.count_runs() == 1);
}

TEST_CASE("site faults: a node is lost with a run that must not begin anew") {
  RunUnderWay slow(
      "sleep 100", {"--nodes", "1"}, {{"options", json::array({"--no-requeue"})}, {"grace", "3s"}});
  const std::string lost = slow.node();
  slow.user.cluster->command({"crash-node", lost});
  slow.user.cluster->command({"down-node", lost});
  const json end = slow.user.json_of({"wait", "--timeout", "80s"}, 14);
  CHECK(slow.user.state_in(end) == "lost");
  CHECK_THAT(end["runs"][0]["detail"].get<std::string>(), Contains("its node failed"));
}

TEST_CASE("site faults: a run that needs more memory than its job has fails") {
  RunUnderWay slow("sleep 1; head -c 400000000 /dev/zero | tail",
                   {"--nodes", "1"},
                   {{"resources", {{"memory", "100 MiB"}}}});
  const json end = slow.user.json_of({"wait", "--timeout", "80s"}, 1);
  CHECK(slow.user.state_in(end) == "failed");
  CHECK_THAT(end["runs"][0]["detail"].get<std::string>(), Contains("memory ran out"));
}

TEST_CASE("site faults: the clock of a node is wrong by a minute") {
  for (const char* wrong : {"60", "-60"}) {
    RunUnderWay slow(
        "date +%s; sleep 3",
        {"--nodes", "1"},
        {{"variables",
          {{"LD_PRELOAD", SABATH_TEST_PROGRAMS "/clock_shim.so"}, {"CLOCK_SHIM_SECONDS", wrong}}}});
    INFO(wrong);
    CHECK(slow.user.json_of({"status"})["runs"][0]["state"] == "running");
    CHECK(slow.user.json_of({"wait", "--timeout", "60s"})["counts"] == json{{"ok", 1}});
    const auto off =
        std::stoll(text_of(slow.run / "attempts/1/go/stdout.log")) - std::time(nullptr);
    CHECK(std::abs(off - std::stoll(wrong)) < 20);
    const double took = slow.user.record(slow.run)["wall_s"];
    CHECK(took >= 3);
    CHECK(took < 30);
    CHECK(slow.user.json_of({"list", "runs"})["runs"][0]["state"] == "ok");
  }
}

TEST_CASE("site faults: a run whose job is out of time has failed, and says why") {
  RunUnderWay slow("echo on; sleep 200",
                   {"--nodes", "1"},
                   {{"resources", {{"time", "60s"}}}, {"warning", "60s"}});
  const json end = slow.user.json_of({"wait", "--timeout", "150s"}, 1);
  CHECK(slow.user.state_in(end) == "failed");
  CHECK_THAT(end["runs"][0]["detail"].get<std::string>(),
             Contains("the job's time was nearly over"));
  CHECK(slow.user.record(slow.run)["state"] == "failed");
}

TEST_CASE("site faults: a run that makes way for an urgent job goes on afterwards") {
  RunUnderWay low("echo attempt $SABATH_ATTEMPT; test $SABATH_ATTEMPT -gt 1 || sleep 100",
                  {"--nodes", "1"},
                  {{"request", {{"partition", "low"}}}, {"resources", {{"cpus", 2}}}});
  low.user.cluster->answer(
      {"sbatch", "-p", "urgent", "-c", "2", "-o", "/dev/null", "--wrap=sleep 2"});
  CHECK(low.user.json_of({"wait", "--timeout", "100s"})["counts"] == json{{"ok", 1}});
  CHECK(text_of(low.run / "attempts/2/go/stdout.log") == "attempt 2\n");
  CHECK(low.user.record(low.run)["attempts"][0]["state"] == "interrupted");
}

TEST_CASE("site faults: a run lives on under a dead slurmd while its job begins anew elsewhere") {
  RunUnderWay slow("echo on $(hostname); test $SABATH_ATTEMPT -gt 1 || sleep 43434547",
                   {"--nodes", "2", "--set", "SlurmdTimeout=2"});
  const std::string lost = slow.node();
  slow.user.cluster->command({"kill-slurmd", lost});
  CHECK(slow.user.json_of({"wait", "--timeout", "100s"})["counts"] == json{{"ok", 1}});
  CHECK(text_of(slow.run / "attempts/2/go/stdout.log") != "on " + lost + "\n");
  const std::string record = text_of(slow.run / "record.json");
  CHECK_FALSE(processes_with("43434547").empty());
  slow.user.cluster->command({"start-slurmd", lost});
  CHECK(eventually([&] { return processes_with("43434547").empty(); }));
  CHECK(text_of(slow.run / "record.json") == record);
  CHECK(slow.user.json_of({"list", "runs"})["runs"][0]["state"] == "ok");
}

TEST_CASE("site faults: the accounting is away while a run ends, and is taken when it is back") {
  RunUnderWay slow("sleep 3", {"--nodes", "1", "--accounting"});
  slow.user.cluster->command({"stop-accounting"});
  CHECK(slow.user.json_of({"wait", slow.run.filename().string(), "--timeout", "60s"})["counts"] ==
        json{{"ok", 1}});
  CHECK_FALSE(fs::exists(slow.run / "accounting.json"));
  slow.user.cluster->command({"start-accounting"});
  CHECK(eventually(
      [&] {
        slow.user.json_of({"wait", slow.run.filename().string()});
        return fs::exists(slow.run / "accounting.json");
      },
      std::chrono::seconds(90)));
}

TEST_CASE("site faults: a controller whose disk is full refuses, and no run waits for it") {
  const SmallDisk disk;
  SiteUser user(std::make_unique<SlurmCluster>(std::vector<std::string>{
      "--nodes", "1", "--set", "StateSaveLocation=" + disk.path().string()}));
  const std::string recipe = user.sabath.shell_recipe("tiny", "true");
  disk.fill();
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 14);
  CHECK_THAT(answer.errors, Contains("sbatch"));
  CHECK(user.json_of({"status"})["runs"].empty());
  disk.empty();
  CHECK(user.sabath({"run", recipe, "--on", "test"}).status == 0);
}

TEST_CASE("site faults: a node whose spool is full begins nothing until there is room") {
  const SmallDisk disk;
  SiteUser user(std::make_unique<SlurmCluster>(std::vector<std::string>{
      "--nodes", "1", "--set", "SlurmdSpoolDir=" + disk.path().string() + "/%n"}));
  disk.fill();
  const std::string recipe = user.sabath.shell_recipe("tiny", "echo ran");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  // Slurm holds what it could not launch.
  CHECK(eventually(
      [&] {
        const json seen = user.json_of({"status"});
        return seen["runs"].size() == 1 && seen["runs"][0]["detail"].get<std::string>().find(
                                               "launch failed") != std::string::npos;
      },
      std::chrono::seconds(60)));
  CHECK_FALSE(fs::exists(run / "attempts/1"));
  disk.empty();
  user.cluster->command({"resume-node", "n1"});
  // The first launch afterwards may be refused by slurmd once more.
  for (int i = 0; i < 10 && !fs::exists(run / "attempts/1"); ++i) {
    user.cluster->run({"scontrol", "release", user.job_of(run)});
    std::this_thread::sleep_for(std::chrono::seconds(3));
  }
  CHECK(user.json_of({"wait", run.filename().string(), "--timeout", "60s"})["counts"] ==
        json{{"ok", 1}});
}

// Faults of a site while runs are under way: each test has a Slurm of its own.
#include "site_user.hpp"

#include <chrono>
#include <cstdlib>
#include <ctime>

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

}  // namespace

TEST_CASE("site faults: the controller stops and comes back while a run goes on") {
  RunUnderWay slow("sleep 8", {"--nodes", "1"});
  slow.user.cluster->command({"stop-controller"});
  const Answer during = slow.user.sabath({"status", "--json"});
  CHECK(during.status == 0);
  CHECK(json::parse(during.output)["runs"][0]["goes_on"] == true);
  slow.user.cluster->command({"start-controller"});
  CHECK(slow.user.json_of({"wait", "@last", "--timeout", "70s"})["counts"] == json{{"ok", 1}});
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

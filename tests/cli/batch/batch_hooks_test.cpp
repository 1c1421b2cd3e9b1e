// Hooks of runs whose exec a scheduler ends.
#include "cli/batch/described_site.hpp"

#include <catch2/catch.hpp>

#include <csignal>

using namespace sabath::test;

namespace {

std::string noting(const fs::path& file, const std::string& word) {
  return "cat > /dev/null; echo " + word + " >> " + file.string();
}

}  // namespace

TEST_CASE("batch hooks: started fires as it is seen, failed once as exec was killed") {
  DescribedSite user;
  const fs::path out = user.sabath.folder() / "fired";
  json hooks = json::array();
  for (const auto& [event, where] : {std::pair("started", "submit"),
                                     std::pair("failed", "exec"),
                                     std::pair("finished", "exec"),
                                     std::pair("lost", "exec")}) {
    hooks.push_back({{"on", json::array({event})},
                     {"where", where},
                     {"command", json::array({"/bin/sh", "-c", noting(out, event)})}});
  }
  write_text(user.sabath.folder() / "config/config.json",
             json{{"schema", 1}, {"hooks", hooks}}.dump());
  user.tool("osub", "setsid bash \"$1\" > /dev/null 2>&1 & echo 'job 1'");
  user.say("R");
  const std::string recipe = user.sabath.shell_recipe("tiny", "sleep 100");
  const Answer run = user.sabath({"run", recipe, "--on", "here", "--seed", "1", "--detach"});
  INFO(run.output + run.errors);
  REQUIRE(run.status == 0);
  const auto status = [&] {
    return json::parse(
        text_of(user.sabath.run_directories().back() / "status.json"), nullptr, false);
  };
  REQUIRE(eventually([&] {
    const json now = status();
    return now.is_object() && now["state"] == "running" && now["stage"] == "go";
  }));
  user.sabath({"status"});
  user.sabath({"status"});
  CHECK(text_of(out) == "started\n");
  ::kill(status()["pid"].get<int>(), SIGKILL);
  user.say("E");
  const Answer wait = user.sabath({"wait", "--timeout", "60s"});
  INFO(wait.output + wait.errors);
  user.sabath({"list"});
  CHECK(text_of(out) == "started\nfailed\n");
}

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
  json description = described();
  description["states"]["T"] = "timed_out";
  DescribedSite user({}, description);
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
  user.tool("osub", "echo \"$1\" > \"$OURS_STATE/script\"; echo 'job 1'");
  user.say("R");
  const std::string recipe = user.sabath.shell_recipe("tiny", "sleep 100");
  const Answer run = user.sabath({"run", recipe, "--on", "here", "--seed", "1", "--detach"});
  INFO(run.output + run.errors);
  REQUIRE(run.status == 0);
  std::string script = text_of(user.sabath.folder() / "script");
  script.resize(script.find('\n'));
  const Running job({"/bin/bash", script},
                    user.sabath.environment(),
                    user.sabath.folder() / "job.out",
                    user.sabath.folder() / "job.err");
  const auto status = [&] {
    return json::parse(
        text_of(user.sabath.run_directories().back() / "status.json"), nullptr, false);
  };
  const bool has_begun = eventually([&] {
    const json now = status();
    return now.is_object() && now["state"] == "running" && now["stage"] == "go";
  });
  INFO(text_of(user.sabath.folder() / "job.out") + text_of(user.sabath.folder() / "job.err"));
  REQUIRE(has_begun);
  user.sabath({"status"});
  user.sabath({"status"});
  CHECK(text_of(out) == "started\n");
  ::kill(status()["pid"].get<int>(), SIGKILL);
  user.say("T");
  const Answer wait = user.sabath({"wait", "--timeout", "60s"});
  INFO(wait.output + wait.errors);
  user.sabath({"list"});
  CHECK(text_of(out) == "started\nfailed\n");
}

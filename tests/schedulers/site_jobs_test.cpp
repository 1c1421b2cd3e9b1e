// What jobs of a site get, and what becomes of some of them: with a real Slurm of four nodes.
#include "site_user.hpp"

#include <algorithm>
#include <chrono>
#include <set>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(const fs::path& folder, const std::string& beginning) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(beginning)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A study that waits for a file, and its runs in the order of their seeds.
struct Waiting {
  explicit Waiting(const std::vector<std::string>& options, const std::string& line = "true") {
    const std::string recipe = user.sabath.shell_recipe(
        "slow", "echo here; while [ ! -e " + go().string() + " ]; do sleep 0.1; done; " + line);
    std::vector<std::string> command{"run", recipe, "--on", "test", "--detach"};
    command.insert(command.end(), options.begin(), options.end());
    REQUIRE(user.sabath(command).status == 0);
    study = user.only_study();
    for (const fs::path& run : user.sabath.run_directories())
      runs.push_back(run);
    std::sort(runs.begin(), runs.end(), [](const fs::path& a, const fs::path& b) {
      const auto seed = [](const fs::path& run) {
        return json::parse(text_of(run / "plan.json"))["seed"]["value"].get<int>();
      };
      return seed(a) < seed(b);
    });
  }
  fs::path go() const { return user.sabath.folder() / "go"; }
  bool all_run() const {
    return eventually(
        [&] {
          return std::all_of(runs.begin(), runs.end(), [](const fs::path& run) {
            return fs::exists(run / "attempts/1/go/stdout.log");
          });
        },
        std::chrono::seconds(40));
  }

  SiteUser user{};
  std::string study{};
  std::vector<fs::path> runs{};
};

}  // namespace

TEST_CASE("site: ranks on two nodes have facts, samples and metrics of their own") {
  SiteUser user;
  const json stage = {{"parallel", "auto"}, {"resources", {{"nodes", 2}, {"tasks", 4}}}};
  const std::string recipe = user.sabath.shell_recipe(
      "ranks",
      R"(echo "{{\"loss\": $SABATH_RANK}}" >> $SABATH_METRICS; hostname; sleep 2)",
      "{}",
      stage.dump());
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  INFO(answer.output);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  const json record = user.record(run);
  std::set<std::string> hosts;
  for (const json& host : record["hosts"])
    hosts.insert(host["node"].get<std::string>());
  REQUIRE(hosts.size() == 2);
  CHECK(names_in(run / "attempts/1/go", "metrics-") ==
        std::vector<std::string>{
            "metrics-0.jsonl", "metrics-1.jsonl", "metrics-2.jsonl", "metrics-3.jsonl"});
  for (const std::string& host : hosts) {
    INFO(host);
    CHECK(fs::exists(run / "attempts/1" / ("host-" + host + ".json")));
    CHECK(names_in(run / "attempts/1/go", "samples-" + host).size() == 1);
  }
  const std::string said = text_of(run / "attempts/1/go/stdout.log");
  for (const std::string& host : hosts)
    CHECK_THAT(said, Contains(host + "\n"));
  CHECK(record["stages"][0]["prefix"][0] == "srun");
  CHECK(record["metrics"][0]["points"] == 4);
}

TEST_CASE("site: of ranks the one that failed is told, not those that were ended because of it") {
  SiteUser user;
  const json stage = {{"parallel", "srun"}, {"resources", {{"nodes", 3}, {"tasks", 3}}}};
  const std::string line = "[ $SABATH_RANK = 2 ] && sleep 1 && exit 9; sleep 60";
  const std::string recipe = user.sabath.shell_recipe("ranks", line, "{}", stage.dump());
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 1);
  const json record = user.record(user.sabath.run_directories().back());
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("stage go: rank 2 on n") && Contains(" exited with status 9 (srun exited"));
}

TEST_CASE("site: SIGUSR1 that is sent to a job is its ranks', who make a checkpoint and go on") {
  SiteUser user;
  const json stage = {{"parallel", "srun"}, {"resources", {{"nodes", 2}, {"tasks", 2}}}};
  const std::string line =
      "trap 'echo > {output}/saved-$SABATH_RANK' USR1; echo up; "
      "while [ ! -e {output}/saved-$SABATH_RANK ]; do sleep 0.1 || true; done";
  const std::string recipe = user.sabath.shell_recipe("saver", line, "{}", stage.dump());
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(eventually([&] { return text_of(run / "attempts/1/go/stdout.log") == "up\nup\n"; },
                     std::chrono::seconds(40)));
  const std::string job = user.job_of(run);
  REQUIRE(user.cluster->run({"scancel", "--signal=USR1", "--batch", job}).ok());
  const Answer answer = user.sabath({"wait", run.filename().string()});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK(user.record(run)["state"] == "ok");
}

TEST_CASE("site: where the first step of one run fails the others go on") {
  SiteUser user;
  const std::string recipe = user.sabath.recipe("steps", R"({"schema": 1, "name": "steps",
    "environment": {"layers": []}, "seed": {"environment": ["SEED"]},
    "stages": [
      {"name": "make", "resources": {"cpus": 1}, "run": {"shell": "test $SEED != 2 && echo data > {output}/d"}, "outputs": ["d"]},
      {"name": "use", "needs": ["make"], "resources": {"cpus": 2}, "run": {"shell": "cat {stage.make}/d"}}]})");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--seeds", "1..3", "--detach"}).status == 0);
  const std::string study = user.only_study();
  CHECK_THAT(text_of(user.sabath.home() / "studies" / study / "jobs/1/job-2.sh"),
             Contains("aftercorr:"));
  const json end = user.json_of({"wait", study, "--timeout", "90s"}, 1);
  CHECK(end["counts"] == json{{"ok", 2}, {"failed", 1}});
  for (const fs::path& run : user.sabath.run_directories()) {
    const bool failed = user.record(run)["seed"]["value"] == 2;
    CHECK(user.record(run)["state"] == (failed ? "failed" : "ok"));
  }
}

TEST_CASE("site: one run of an array is cancelled, and the others go on") {
  Waiting waiting({"--seeds", "1..3"});
  REQUIRE(waiting.all_run());
  const auto& sabath = waiting.user.sabath;
  REQUIRE(sabath({"cancel", waiting.runs[1].filename().string()}).status == 0);
  CHECK(eventually([&] {
    return text_of(waiting.runs[1] / "status.json").find("interrupted") != std::string::npos;
  }));
  write_text(waiting.go(), "");
  const json end = waiting.user.json_of({"wait", waiting.study, "--timeout", "60s"}, 130);
  CHECK(end["counts"] == json{{"ok", 2}, {"interrupted", 1}});
  CHECK(waiting.user.record(waiting.runs[0])["state"] == "ok");
  CHECK(waiting.user.record(waiting.runs[2])["state"] == "ok");
}

TEST_CASE("site: of runs that share a job one alone is not cancelled") {
  Waiting waiting({"--seeds", "1..2", "--pack", "2"});
  REQUIRE(eventually([&] { return fs::exists(waiting.runs[0] / "attempts/1/go/stdout.log"); },
                     std::chrono::seconds(40)));
  const Answer answer = waiting.user.sabath({"cancel", waiting.runs[0].filename().string()});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors,
             Contains(waiting.runs[1].filename().string()) && Contains("shares its job"));
  write_text(waiting.go(), "");
  CHECK(waiting.user.json_of({"wait", waiting.study, "--timeout", "60s"})["counts"] ==
        json{{"ok", 2}});
}

TEST_CASE("site: packed runs with ranks run side by side in the memory of their job") {
  const json site = {{"options", {"--exclusive", "--mem=1000M"}}};
  SiteUser user(SlurmCluster::shared(), site);
  const json stage = {{"parallel", "auto"}, {"resources", {{"cpus", 1}, {"memory", "200 MiB"}}}};
  const std::string place = user.sabath.folder().string();
  const std::string line = "touch " + place +
                           "/begun.$SABATH_RUN_ID; for i in $(seq 200); do test "
                           "$(ls " +
                           place + " | grep -c begun) = 2 && exit; sleep 0.1; done; exit 1";
  const std::string recipe = user.sabath.shell_recipe("ranks", line, "{}", stage.dump());
  const Answer answer =
      user.sabath({"run", recipe, "--on", "test", "--seeds", "1..2", "--pack", "2"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  for (const fs::path& run : user.sabath.run_directories()) {
    CHECK(user.record(run)["state"] == "ok");
    CHECK(user.record(run)["stages"][0]["prefix"][0] == "srun");
  }
}

TEST_CASE("site: logs follow a run there, a wait ends with its time, and more is collected") {
  Waiting waiting({"--seeds", "1..1"}, "echo loss 0.5; echo over");
  const std::string run = waiting.runs[0].filename().string();
  auto& sabath = waiting.user.sabath;
  const Answer early = sabath({"wait", run, "--timeout", "1s"});
  CHECK(early.status == 3);
  CHECK_THAT(early.errors, Contains("the runs continue"));
  Running logs = sabath.start({"logs", "-f", run});
  REQUIRE(waiting.all_run());
  write_text(waiting.go(), "");
  const Answer followed = logs.wait();
  INFO(followed.errors);
  CHECK(followed.status == 0);
  CHECK(followed.output == "here\nloss 0.5\nover\n");
  CHECK(waiting.user.json_of({"wait", run, "--timeout", "60s"})["counts"] == json{{"ok", 1}});
  const std::string patterns = (sabath.folder() / "patterns.json").string();
  write_text(
      patterns,
      R"x({"schema": 1, "metrics": {"loss": {"from": {"kind": "regex", "pattern": "loss (\\S+)"}}}})x");
  const Answer collected = sabath({"collect", run, "--with", patterns});
  INFO(collected.errors);
  CHECK(collected.status == 0);
  const json shown = waiting.user.json_of({"show", run});
  CHECK(shown["metrics"].dump().find("loss") != std::string::npos);
}

TEST_CASE("site: layers are built and data fetched by the job that makes everything ready") {
  SiteUser user(SlurmCluster::shared(), {{"build_in_job", true}});
  write_text(user.sabath.folder() / "words", "pear\n");
  user.sabath.asset("words",
                    R"({"schema": 1, "kind": "dataset", "name": "words", "files": [
        {"path": "words", "sources": ["file://)" +
                        (user.sabath.folder() / "words").string() + R"("]}]})");
  const json recipe = {
      {"schema", 1},
      {"name", "ready"},
      {"datasets", {{"list", "words"}}},
      {"environment",
       {{"layers",
         {{{"kind", "source"},
           {"path", "{recipe}/code"},
           {"build", "steps"},
           {"steps",
            json::array(
                {json::array({"sh",
                              "-c",
                              "mkdir {prefix}/bin && printf '#!/bin/sh\necho %s\n' $(hostname) > "
                              "{prefix}/bin/where && chmod +x {prefix}/bin/where"})})}}}}}},
      {"stages", {{{"name", "go"}, {"run", {{"shell", "where; cat {dataset.list}/words"}}}}}}};
  const std::string folder = user.sabath.recipe("ready", recipe.dump());
  fs::create_directories(fs::path(folder) / "code");
  write_text(fs::path(folder) / "code/own", "mine\n");
  const Answer answer = user.sabath({"run", folder, "--on", "test"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("makes everything ready"));
  const fs::path run = user.sabath.run_directories().back();
  const std::string said = text_of(run / "attempts/1/go/stdout.log");
  CHECK(
      std::set<std::string>{"n1\npear\n", "n2\npear\n", "n3\npear\n", "n4\npear\n"}.contains(said));
}

TEST_CASE("site: the job that makes everything ready has the catalogs of who asked") {
  SiteUser user(SlurmCluster::shared(), {{"build_in_job", true}});
  const fs::path catalog = user.sabath.folder() / "more";
  fs::create_directories(catalog);
  write_text(user.sabath.folder() / "words", "pear\n");
  write_text(catalog / "blob.json",
             R"({"schema": 1, "kind": "dataset", "name": "blob", "files": [
        {"path": "words", "sources": ["file://)" +
                 (user.sabath.folder() / "words").string() + R"("]}]})");
  const std::string recipe = user.sabath.shell_recipe(
      "reader", "cat {dataset.list}/words", R"({"datasets": {"list": "blob"}})");
  const Answer answer = user.sabath({"--catalog", catalog.string(), "run", recipe, "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
}

TEST_CASE("site: why nothing could be made ready is told at once") {
  SiteUser user(SlurmCluster::shared(), {{"build_in_job", true}, {"grace", "10m"}});
  const json recipe = {
      {"schema", 1},
      {"name", "broken"},
      {"environment",
       {{"layers",
         {{{"kind", "source"},
           {"path", "{recipe}"},
           {"build", "steps"},
           {"steps", json::array({json::array({"sh", "-c", "echo no luck; exit 3"})})}}}}}},
      {"stages", {{{"name", "go"}, {"run", {"true"}}}}}};
  const auto begun = std::chrono::steady_clock::now();
  const Answer answer =
      user.sabath({"run", user.sabath.recipe("broken", recipe.dump()), "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 13);
  CHECK_THAT(answer.errors, Contains(" of 'test': ") && Contains("exited with status 3"));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::minutes(5));
  CHECK(user.sabath.count_runs() == 0);
}

TEST_CASE("site: what the site says of its jobs is what they get") {
  auto cluster = std::make_unique<SlurmCluster>(std::vector<std::string>{"--nodes", "2"});
  cluster->answer(
      {"scontrol", "update", "nodename=n2", "availablefeatures=fast", "activefeatures=fast"});
  const std::string scratch = cluster->scratch().string();
  SiteUser user(std::move(cluster),
                {{"request", {{"constraint", "fast"}}},
                 {"options", {"--nice=7"}},
                 {"setup", {"export FROM_SETUP=set", "echo told >&2"}},
                 {"variables", {{"OF_SITE", "with blanks"}}},
                 {"scratch", scratch},
                 {"at_once", 1},
                 {"largest_array", 2}});
  const std::string recipe = user.sabath.shell_recipe(
      "tiny", "echo $FROM_SETUP/$OF_SITE/$(hostname)/$(pwd -P); scontrol show job $SLURM_JOB_ID");
  const Answer answer =
      user.sabath({"run", recipe, "--on", "test", "--seeds", "1..3", "--jobs", "5"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path study = user.sabath.home() / "studies" / user.only_study();
  CHECK_THAT(text_of(study / "jobs/1/job-1.sh"), Contains("--array=1-2%1\n"));
  CHECK(fs::exists(study / "jobs/2/submitted.json"));
  CHECK_FALSE(fs::exists(study / "jobs/3"));
  const std::string first = json::parse(text_of(study / "jobs/1/submitted.json"))["jobs"][0];
  CHECK_THAT(text_of(study / "jobs/2/job-1.sh"), Contains("--dependency=afterany:" + first + "\n"));
  // One at once, of both arrays together.
  std::vector<std::pair<std::string, std::string>> times;
  for (const fs::path& run : user.sabath.run_directories()) {
    const json record = user.record(run);
    times.emplace_back(record["started"], record["ended"]);
  }
  std::sort(times.begin(), times.end());
  REQUIRE(times.size() == 3);
  CHECK(times[0].second < times[1].first);
  CHECK(times[1].second < times[2].first);
  for (const fs::path& run : user.sabath.run_directories()) {
    const std::string said = text_of(run / "attempts/1/go/stdout.log");
    CHECK_THAT(said, Contains("set/with blanks/n2/" + scratch));
    CHECK_THAT(said, Contains("Nice=7") && Contains("Features=fast"));
  }
  // Nothing stays on the node's own disk.
  CHECK(fs::is_empty(user.cluster->scratch_of("n2")));
}

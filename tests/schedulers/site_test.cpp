// `sabath run --on SITE` and what follows it, with a real Slurm of four nodes.
#include "site_user.hpp"

#include <chrono>
#include <csignal>
#include <set>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("site: a run waits and answers as it does here") {
  SiteUser user;
  const std::string recipe = user.sabath.shell_recipe(
      "tiny", R"(echo "{{\"step\": 1, \"loss\": 0.5}}" >> $SABATH_METRICS; hostname)");
  const Answer answer = user.sabath({"run", recipe, "--on", "test", "--seed", "7"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("handed to 'test'"));
  CHECK_THAT(answer.output, Contains("--on test"));
  const fs::path run = user.sabath.run_directories().back();
  const json record = user.record(run);
  CHECK(record["state"] == "ok");
  const std::string node = record["hosts"][0]["node"];
  CHECK(std::set<std::string>{"n1", "n2", "n3", "n4"}.count(node) == 1);
  CHECK(text_of(run / "attempts/1/go/stdout.log") == node + "\n");
  CHECK_THAT(text_of(run / "jobs/1/job-1.sh"), Contains("#SBATCH ") && Contains("exec --batch"));
  CHECK(user.sabath({"logs", "@last"}).output == node + "\n");
}

TEST_CASE("site: repro --on does a run again there, with the variables of then") {
  SiteUser user;
  user.sabath.environment()["OMP_NUM_THREADS"] = "1";
  const std::string recipe = user.sabath.shell_recipe(
      "tiny", "echo $OMP_NUM_THREADS > {output}/x", "{}", R"({"outputs": ["x"]})");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--seed", "7"}).status == 0);
  user.sabath.environment().erase("OMP_NUM_THREADS");
  const Answer answer = user.sabath({"repro", "@last", "--on", "test", "--require", "bitwise"});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("PASS"));
  const json record = user.record(user.sabath.run_directories().back());
  CHECK(record["seed"]["value"] == 7);
  CHECK(std::string(record["hosts"][0]["node"]).starts_with("n"));
  CHECK(fs::is_empty(user.sabath.home() / "state/repro"));
  CHECK_THAT(user.sabath({"repro", "@last~1"}).errors, Contains("--on test repeats it there"));
}

TEST_CASE("site: a failing run fails with the status of its command") {
  SiteUser user;
  const Answer answer =
      user.sabath({"run", user.sabath.shell_recipe("bad", "exit 3"), "--on", "test"});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains("exited with status 3"));
}

TEST_CASE("site: a study is one array, is waited for from another process, and compares") {
  SiteUser user;
  const Answer answer = user.sabath(
      {"run",
       user.sabath.shell_recipe("tiny", "echo {seed} > {output}/x", "{}", R"({"outputs": ["x"]})"),
       "--on",
       "test",
       "--seeds",
       "1..20",
       "--detach"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("sabath wait"));
  const std::string study = user.only_study();
  const json status = user.json_of({"status"});
  CHECK(status["runs"].size() == 20);
  const json end = user.json_of({"wait", study, "--timeout", "80s"});
  CHECK(end["counts"] == json{{"ok", 20}});
  const fs::path folder = user.sabath.home() / "studies" / study;
  CHECK(json::parse(text_of(folder / "jobs/1/submitted.json"))["jobs"].size() == 1);
  CHECK_FALSE(fs::exists(folder / "jobs/2"));
  std::set<std::string> nodes;
  for (const fs::path& run : user.sabath.run_directories())
    nodes.insert(user.record(run)["hosts"][0]["node"]);
  CHECK(nodes.size() > 1);
  CHECK(user.json_of({"status"})["runs"].empty());
  CHECK(user.sabath({"show", study}).status == 0);
}

TEST_CASE("site: the code of a study's runs is looked at and kept once") {
  SiteUser user;
  const fs::path recipe = user.sabath.shell_recipe("tiny", "true");
  const std::string git = "git -C " + recipe.string() + " -c user.name=a -c user.email=a@b ";
  const Answer made = user.sabath.program(
      {"sh", "-c", git + "init -q && " + git + "add . && " + git + "commit -q -m first"});
  REQUIRE(made.status == 0);
  write_text(recipe / "note", "changed");
  const fs::path calls = user.sabath.folder() / "calls";
  put_before(user, "git", "echo x >> " + calls.string() + "; PATH=${PATH#*:} exec git \"$@\"\n");
  const auto runs_of_study = [&](const std::string& seeds) {
    fs::remove(calls);
    const Answer answer =
        user.sabath({"run", recipe.string(), "--on", "test", "--seeds", seeds, "--detach"});
    INFO(answer.errors);
    REQUIRE(answer.status == 0);
    return text_of(calls).size();
  };
  const auto once = runs_of_study("1");
  const std::size_t before = user.sabath.count_runs();
  CHECK(runs_of_study("1..5") == once);
  const auto runs = user.sabath.run_directories();
  for (std::size_t i = before; i < runs.size(); ++i) {
    const json plan = json::parse(text_of(runs[i] / "plan.json"));
    CHECK(plan["code_state"]["git"]["dirty"] == json::array({"? note"}));
    CHECK(plan["code_state"]["kept"] == "code.tar.gz");
    CHECK(fs::hard_link_count(runs[i] / "code.tar.gz") == 5);
  }
  user.sabath({"cancel"});
}

TEST_CASE("site: what was cancelled is interrupted, and --resume finishes the study") {
  SiteUser user;
  const fs::path go = user.sabath.folder() / "go";
  const std::string recipe =
      user.sabath.shell_recipe("slow", "test -e " + go.string() + " || sleep 60");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--seeds", "1..12", "--detach"}).status == 0);
  const std::string study = user.only_study();
  REQUIRE(eventually([&] {
    const json counts = user.json_of({"status", study})["counts"];
    return counts.value("running", 0) >= 2;
  }));
  CHECK(user.sabath({"cancel", study}).status == 0);
  const json end = user.json_of({"wait", study, "--timeout", "40s"}, 130);
  CHECK(end["counts"] == json{{"interrupted", 12}});
  write_text(go, "");
  const Answer resumed = user.sabath({"run", "--resume", study});
  INFO(resumed.errors);
  CHECK(resumed.status == 0);
  CHECK_THAT(resumed.output, Contains("12 ok"));
}

TEST_CASE("site: the login that waits is killed, and the runs go on") {
  SiteUser user;
  {
    Running login =
        user.sabath.start({"run", user.sabath.shell_recipe("slow", "sleep 3"), "--on", "test"});
    REQUIRE(eventually([&] { return user.sabath.count_runs() == 1; }));
    const fs::path run = user.sabath.run_directories().back();
    REQUIRE(eventually([&] { return fs::exists(run / "jobs/1/submitted.json"); }));
    login.signal(SIGKILL);
    login.wait();
  }
  CHECK(user.json_of({"wait", "--timeout", "60s"})["counts"] == json{{"ok", 1}});
}

TEST_CASE("site: Ctrl-C detaches and says how to come back") {
  SiteUser user;
  Running login =
      user.sabath.start({"run", user.sabath.shell_recipe("slow", "sleep 2"), "--on", "test"});
  REQUIRE(eventually([&] { return user.sabath.count_runs() == 1; }));
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(eventually([&] { return fs::exists(run / "jobs/1/submitted.json"); }));
  login.signal(SIGINT);
  const Answer answer = login.wait();
  CHECK(answer.status == 130);
  CHECK_THAT(answer.errors, Contains("sabath wait " + run.filename().string()));
  CHECK(user.json_of({"wait", "--timeout", "60s"})["counts"] == json{{"ok", 1}});
}

TEST_CASE("site: a submission whose answer is lost is not made twice") {
  SiteUser user;
  put_before(user,
             "sbatch",
             "PATH=${PATH#*:} sbatch \"$@\" >/dev/null\n"
             "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv "
             "operation' >&2\nexit 1\n");
  const Answer answer =
      user.sabath({"run", user.sabath.shell_recipe("once", "echo once"), "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  const std::string id = user.sabath.run_directories().back().filename().string();
  const std::string jobs = user.cluster->answer({"squeue", "-h", "-t", "all", "-o", "%k", "--me"});
  std::size_t found = 0;
  for (auto at = jobs.find(id); at != std::string::npos; at = jobs.find(id, at + 1))
    ++found;
  CHECK(found == 1);
}

TEST_CASE("site: a refusal is told in the scheduler's words, and no run waits for it") {
  SiteUser user(SlurmCluster::shared(), {{"request", {{"partition", "nosuch"}}}});
  const Answer answer =
      user.sabath({"run", user.sabath.shell_recipe("tiny", "true"), "--on", "test"});
  CHECK(answer.status == 14);
  CHECK_THAT(answer.errors, Contains("Invalid partition name") && Contains("hint:"));
  CHECK(user.json_of({"status"})["runs"].empty());
}

TEST_CASE("site: a job that is cancelled behind our back ends the run as interrupted") {
  SiteUser user;
  const std::string recipe = user.sabath.shell_recipe("slow", "sleep 60");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(eventually([&] { return fs::exists(run / "attempts/1/go/stdout.log"); }));
  user.cluster->answer({"scancel", user.job_of(run)});
  const json end = user.json_of({"wait", "--timeout", "60s"}, 130);
  CHECK(user.state_in(end) == "interrupted");
  CHECK(user.record(run)["state"] == "interrupted");
}

TEST_CASE("site: a run that is requeued is a new attempt of the same run") {
  SiteUser user;
  const std::string recipe = user.sabath.shell_recipe(
      "again", "echo attempt $SABATH_ATTEMPT; test $SABATH_ATTEMPT -gt 1 || sleep 60");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(eventually([&] { return fs::exists(run / "attempts/1/go/stdout.log"); }));
  user.cluster->answer({"scontrol", "requeue", user.job_of(run)});
  const json end = user.json_of({"wait", "--timeout", "80s"});
  CHECK(user.state_in(end) == "ok");
  CHECK(text_of(run / "attempts/2/go/stdout.log") == "attempt 2\n");
  CHECK(user.sabath.count_runs() == 1);
}

TEST_CASE("site: several runs share a job") {
  SiteUser user;
  const Answer answer = user.sabath({"run",
                                     user.sabath.shell_recipe("tiny", "echo $SABATH_RUN_ID"),
                                     "--on",
                                     "test",
                                     "--seeds",
                                     "1..7",
                                     "--pack",
                                     "3"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  const fs::path folder = user.sabath.home() / "studies" / user.only_study();
  CHECK_THAT(text_of(folder / "jobs/1/job-1.sh"), Contains("--array=1-3"));
  for (const fs::path& run : user.sabath.run_directories())
    CHECK(user.record(run)["state"] == "ok");
}

TEST_CASE("site: stages that want other machines are jobs that wait for each other") {
  SiteUser user;
  const std::string recipe = user.sabath.recipe("steps", R"({"schema": 1, "name": "steps",
    "environment": {"layers": []},
    "stages": [
      {"name": "simulate", "resources": {"cpus": 1}, "run": {"shell": "echo data > {output}/d"}, "outputs": ["d"]},
      {"name": "train", "needs": ["simulate"], "resources": {"nodes": 2, "tasks": 2},
       "run": {"shell": "cat {stage.simulate}/d; echo $SLURM_JOB_NUM_NODES"}}]})");
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  CHECK(json::parse(text_of(run / "jobs/1/submitted.json"))["jobs"].size() == 2);
  CHECK(text_of(run / "attempts/1/train/stdout.log") == "data\n2\n");
  CHECK(user.record(run)["stages"].size() == 2);
}

TEST_CASE("site: doctor proves a site by a job") {
  SiteUser user;
  const Answer answer = user.sabath({"doctor", "--site", "test"});
  INFO(answer.errors);
  CHECK_THAT(answer.output, Contains("node: home") && Contains("was accepted"));
}

TEST_CASE("site: everything is made ready in a job where the site says so") {
  SiteUser user(SlurmCluster::shared(), {{"build_in_job", true}});
  const Answer answer =
      user.sabath({"run", user.sabath.shell_recipe("tiny", "echo ready"), "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("makes everything ready"));
}

TEST_CASE("site: check waits for its runs and holds them to what was accepted at that site") {
  SiteUser user;
  const std::string recipe = user.sabath.shell_recipe(
      "gated",
      R"(echo "{{\"step\": 1, \"loss\": {param.rate}.5}}" >> $SABATH_METRICS)",
      R"({"parameters": {"rate": {"type": "int", "default": 0, "affects": "execution"}},
          "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  const std::string file = (user.sabath.folder() / "baseline.json").string();
  const std::string junit = (user.sabath.folder() / "junit.xml").string();
  const json first =
      user.json_of({"check", recipe, "--on", "test", "--seed", "1", "--repeat", "2"});
  CHECK(first["verdict"] == "PASS");
  CHECK(first["groups"][0]["of"]["site"] == "test");
  CHECK(first["groups"][0]["runs"].size() == 2);
  user.json_of({"baseline", "propose", "recipe=gated", "-o", file});
  user.json_of({"baseline", "accept", file});
  const std::vector<std::string> check{
      "check", recipe, "--on", "test", "--seed", "1", "--baseline", file, "--junit", junit};
  CHECK(user.json_of(check)["verdict"] == "PASS");
  std::vector<std::string> changed = check;
  changed.insert(changed.end(), {"--set", "rate=1"});
  CHECK(user.json_of(changed, 1)["verdict"] == "FAIL");
  CHECK_THAT(text_of(junit), Contains("failures=\"1\"") && Contains("gated at test, "));
  const json here = user.json_of({"check", recipe, "--seed", "1", "--baseline", file}, 4);
  CHECK_THAT(here["reason"].get<std::string>(),
             Contains("the site is 'local', of the baseline 'test'"));
}

TEST_CASE("site: a name that is none is told with those that there are") {
  SiteUser user;
  const Answer answer =
      user.sabath({"run", user.sabath.shell_recipe("tiny", "true"), "--on", "tset"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("did you mean 'test'"));
}

// Submissions that go wrong halfway, and what is cancelled then, with a real Slurm of four nodes.
#include "site_user.hpp"

#include <chrono>
#include <csignal>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string two_steps(const SiteUser& user, const std::string& line) {
  const json stage_one{{"name", "one"}, {"resources", {{"cpus", 1}}}, {"run", {{"shell", line}}}};
  const json stage_two{{"name", "two"},
                       {"needs", {"one"}},
                       {"resources", {{"nodes", 2}, {"tasks", 2}}},
                       {"run", {{"shell", "true"}}}};
  const json recipe{{"schema", 1},
                    {"name", "steps"},
                    {"environment", {{"layers", json::array()}}},
                    {"stages", {stage_one, stage_two}}};
  return user.sabath.recipe("steps", recipe.dump());
}

/// Does the queue still have a job that could begin, of those that name `word`?
bool is_queued(const SiteUser& user, const std::string& word) {
  const std::string jobs =
      user.cluster->answer({"squeue", "-h", "-t", "pending,running", "-o", "%k", "--me"});
  return jobs.find(word) != std::string::npos;
}

/// Does something else in the place of each submission but the first `usual`.
void disturb(SiteUser& user, int usual, const std::string& script) {
  const std::string count = (user.sabath.folder() / "submissions").string();
  put_before(user,
             "sbatch",
             "PATH=${PATH#*:}\necho >> " + count + "\nif test $(wc -l < " + count + ") -le " +
                 std::to_string(usual) + "; then exec sbatch \"$@\"; fi\n" + script);
}

/// Accepts the first `usual` submissions, and others so that nobody hears of it, or not at all.
void make_deaf(SiteUser& user, int usual, bool accepts) {
  const std::string over = (user.sabath.folder() / "submissions.over").string();
  disturb(user,
          usual,
          (accepts ? "sbatch \"$@\" > /dev/null\n" : "") + ("touch " + over) + "\nexec sleep 20\n");
}

void kill_in_deaf_submission(SiteUser& user, const std::vector<std::string>& command) {
  Running login = user.sabath.start(command);
  REQUIRE(eventually([&] { return fs::exists(user.sabath.folder() / "submissions.over"); },
                     std::chrono::seconds(60)));
  login.signal(SIGKILL);
  login.wait();
  fs::remove(user.sabath.folder() / "before/sbatch");
}

}  // namespace

TEST_CASE("site: a run whose submitter died unheard is known, waited for and cancelled") {
  SiteUser user;
  make_deaf(user, 0, true);
  const bool ends_well = GENERATE(true, false);
  const std::string recipe = user.sabath.shell_recipe("slow", ends_well ? "true" : "sleep 100");
  kill_in_deaf_submission(user, {"run", recipe, "--on", "test"});
  const fs::path run = user.sabath.run_directories().back();
  const std::string id = run.filename().string();
  REQUIRE(eventually([&] { return fs::exists(run / "attempts/1/go/stdout.log"); },
                     std::chrono::seconds(30)));
  if (ends_well) {
    CHECK(user.json_of({"wait", id, "--timeout", "60s"})["counts"] == json{{"ok", 1}});
    return;
  }
  CHECK(user.state_in(user.json_of({"status"})) == "running");
  CHECK(user.state_in(user.json_of({"cancel", id})) == "interrupted");
  CHECK(user.state_in(user.json_of({"wait", id}, 130)) == "interrupted");
  CHECK(eventually([&] { return !is_queued(user, id); }));
}

TEST_CASE("site: a run that is cancelled is over as soon as its record is there") {
  SiteUser user;
  const std::string recipe = user.sabath.shell_recipe("slow", "sleep 100");
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(eventually([&] { return fs::exists(run / "attempts/1/go/stdout.log"); },
                     std::chrono::seconds(30)));
  const json end = user.json_of({"cancel", run.filename().string()});
  CHECK(user.state_in(end) == "interrupted");
  CHECK(user.record(run)["state"] == "interrupted");
  user.cluster->run({"scontrol", "requeue", user.job_of(run)});
  CHECK(eventually([&] { return !is_queued(user, run.filename().string()); },
                   std::chrono::seconds(30)));
  CHECK_FALSE(fs::exists(run / "attempts/2"));
}

TEST_CASE("site: where a later step is refused the first is ended, and the reason told") {
  SiteUser user;
  disturb(user, 1, "exec sbatch --partition=nosuch \"$@\"\n");
  const Answer answer = user.sabath({"run", two_steps(user, "sleep 100"), "--on", "test"});
  INFO(answer.errors);
  CHECK(answer.status == 14);
  const std::string id = user.sabath.run_directories().back().filename().string();
  CHECK_THAT(answer.errors,
             Contains(id + ": step 2 was never handed in: slurm: sbatch: ") &&
                 Contains("Invalid partition name"));
  CHECK(eventually([&] { return !is_queued(user, id); }));
  const json end = user.json_of({"wait", id, "--timeout", "40s"}, 130);
  CHECK(user.state_in(end) == "interrupted");
}

TEST_CASE("site: where the submitter dies between two steps all is ended, and --resume goes on") {
  SiteUser user;
  make_deaf(user, 1, false);
  const fs::path go = user.sabath.folder() / "go";
  const std::string recipe = two_steps(user, "test -e " + go.string() + " || sleep 100");
  kill_in_deaf_submission(user, {"run", recipe, "--on", "test", "--seeds", "1..2"});
  const std::string study = user.only_study();
  const json end = user.json_of({"wait", study, "--timeout", "60s"}, 130);
  CHECK(end["counts"] == json{{"interrupted", 2}});
  CHECK(eventually([&] { return !is_queued(user, study); }));
  write_text(go, "");
  const Answer resumed = user.sabath({"run", "--resume", study});
  INFO(resumed.errors);
  CHECK(resumed.status == 0);
  CHECK_THAT(resumed.output, Contains("2 ok"));
}

TEST_CASE("site: a step whose submitter died unheard is found, and the run goes on") {
  SiteUser user;
  make_deaf(user, 1, true);
  kill_in_deaf_submission(user, {"run", two_steps(user, "sleep 2"), "--on", "test"});
  CHECK(user.json_of({"wait", "@running", "--timeout", "80s"})["counts"] == json{{"ok", 1}});
}

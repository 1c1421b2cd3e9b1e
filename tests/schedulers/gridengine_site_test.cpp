// `sabath run --on SITE` and what follows it, with a real Grid Engine: a scheduler that is only
// described.
#include "site_user.hpp"

#include <chrono>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct GridUser : UserOf<GridEngine> {
  explicit GridUser(json site = json::object())
      : UserOf(std::make_unique<GridEngine>(), "sge", std::move(site)) {}
};

bool has_begun(const fs::path& run, int attempt = 1) {
  return eventually(
      [&] { return fs::exists(run / "attempts" / std::to_string(attempt) / "go/stdout.log"); },
      std::chrono::seconds(60));
}

}  // namespace

TEST_CASE("grid engine site: steps are jobs that wait for each other, and a study is an array") {
  const GridUser user(json{{"implied", {"cpus"}}});  // it has no parallel environment
  const std::string steps = user.sabath.recipe("steps", R"({"schema": 1, "name": "steps",
    "environment": {"layers": []},
    "stages": [
      {"name": "make", "resources": {"cpus": 1}, "run": {"shell": "echo data > {output}/d"}, "outputs": ["d"]},
      {"name": "use", "needs": ["make"], "resources": {"cpus": 2}, "run": {"shell": "cat {stage.make}/d"}}]})");
  const Answer two = user.sabath({"run", steps, "--on", "test"});
  INFO(two.errors);
  CHECK(two.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  CHECK(json::parse(text_of(run / "jobs/1/submitted.json"))["jobs"].size() == 2);
  CHECK(text_of(run / "attempts/1/use/stdout.log") == "data\n");
  CHECK(user.record(run)["jobs"].size() == 2);

  const std::string tiny = user.sabath.shell_recipe("tiny", "echo $SABATH_RUN_ID");
  REQUIRE(user.sabath({"run", tiny, "--on", "test", "--seeds", "1..3", "--detach"}).status == 0);
  const std::string study = user.only_study();
  CHECK(user.json_of({"wait", study, "--timeout", "90s"})["counts"] == json{{"ok", 3}});
  CHECK_THAT(text_of(user.sabath.home() / "studies" / study / "jobs/1/job-1.sh"),
             Contains("#$ -t 1-3"));
}

TEST_CASE("grid engine site: doctor proves it by a job") {
  const GridUser user;
  const Answer answer = user.sabath({"doctor", "--site", "test"});
  INFO(answer.errors);
  CHECK_THAT(answer.output, Contains("was accepted") && Contains("node: home"));
}

TEST_CASE("grid engine site: what is cancelled is interrupted, and what it accounts is kept") {
  const GridUser user;
  const std::string slow = user.sabath.shell_recipe("slow", "sleep 60");
  REQUIRE(user.sabath({"run", slow, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(has_begun(run));
  CHECK(user.json_of({"status"})["runs"][0]["state"] == "running");
  CHECK(user.sabath({"cancel", run.filename().string()}).status == 0);
  const json end = user.json_of({"wait", run.filename().string(), "--timeout", "60s"}, 130);
  CHECK(user.state_in(end) == "interrupted");
  CHECK(eventually(
      [&] {
        user.sabath({"wait", run.filename().string()});
        return fs::exists(run / "accounting.json");
      },
      std::chrono::seconds(60)));
  CHECK(json::parse(text_of(run / "accounting.json"))["job"] == user.job_of(run));
}

TEST_CASE("grid engine site: a run that is started again is another attempt, however often") {
  const GridUser user;
  const std::string again = user.sabath.shell_recipe(
      "again", "echo attempt $SABATH_ATTEMPT; test $SABATH_ATTEMPT -gt 2 || sleep 60");
  REQUIRE(user.sabath({"run", again, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  for (const int attempt : {1, 2}) {
    REQUIRE(has_begun(run, attempt));
    user.cluster->answer({"qmod", "-rj", user.job_of(run)});
  }
  const json end = user.json_of({"wait", run.filename().string(), "--timeout", "100s"});
  CHECK(user.state_in(end) == "ok");
  CHECK(text_of(run / "attempts/3/go/stdout.log") == "attempt 3\n");
  CHECK(user.record(run)["attempts"].size() == 2);
}

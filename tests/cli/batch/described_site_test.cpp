// Sites whose scheduler the user describes; its tools are shell scripts of the test's making.
#include "cli/batch/described_site.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/unique_fd.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/inotify.h>
#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Counts how often a file of a folder is replaced.
class Replacements {
 public:
  explicit Replacements(const fs::path& folder)
      : queue_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    fs::create_directories(folder);
    REQUIRE(::inotify_add_watch(queue_.get(), folder.c_str(), IN_MOVED_TO) >= 0);
  }

  /// Since this was made, or asked last.
  std::size_t count() const {
    std::size_t events = 0;
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::read(queue_.get(), buffer.data(), buffer.size())) > 0;) {
      for (ssize_t at = 0; at < got; ++events) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
    return events;
  }

 private:
  sabath::base::UniqueFd queue_;
};

}  // namespace

TEST_CASE("described site: what it would not be asked for is told before anything is made") {
  const DescribedSite user;
  const std::string folder = user.recipe(R"({"gpus": 2})");
  const std::vector<std::vector<std::string>> commands{
      {"run", folder, "--on", "here"},
      {"run", folder, "--on", "here", "--dry-run"},
      {"run", folder, "--on", "here", "--seeds", "1..3"}};
  for (const auto& command : commands) {
    const Answer answer = user.sabath(command);
    INFO(answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors,
               Contains("site 'here': the job needs resources that submissions to ours do not "
                        "request: gpus (2)") &&
                   Contains("says what they are called") && Contains("\"implied\": [\"gpus\"]"));
  }
  CHECK(user.sabath.count_runs() == 0);
  CHECK_FALSE(user.was_asked());
  SECTION("the site says what they are called") {
    write_text(user.sabath.folder() / "config/sites/here.json",
               R"({"schema": 1, "scheduler": "ours", "request": {"gpu": "a100"}})");
    const Answer dry = user.sabath({"run", folder, "--on", "here", "--dry-run"});
    CHECK(dry.status == 0);
    CHECK_THAT(dry.output, Contains("2 GPU(s) a node"));
    CHECK(user.sabath({"run", folder, "--on", "here", "--detach"}).status == 0);
    CHECK_THAT(text_of(user.sabath.run_directories().back() / "jobs/1/job-1.sh"),
               Contains("#OURS -g a100=2\n"));
  }
}

TEST_CASE("described site: single jobs wait for others where no more may run at once") {
  json description = described();
  description["submit"]["options"].push_back("-w {after_any}");
  const DescribedSite user(json(), description);
  const Answer answer = user.sabath(
      {"run", user.recipe("{}"), "--on", "here", "--seeds", "1..4", "--jobs", "2", "--detach"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path studies = user.sabath.home() / "studies";
  const fs::path jobs = fs::directory_iterator(studies)->path() / "jobs";
  for (const char* first : {"1", "2"})
    CHECK_THAT(text_of(jobs / first / "job-1.sh"), !Contains("#OURS -w"));
  CHECK_THAT(text_of(jobs / "3/job-1.sh"), Contains("#OURS -w 1\n"));
  CHECK_THAT(text_of(jobs / "4/job-1.sh"), Contains("#OURS -w 2\n"));
}

TEST_CASE("described site: a limit that it cannot be held to is told before anything is made") {
  const DescribedSite user;
  std::vector<std::string> command{
      "run", user.recipe("{}"), "--on", "here", "--seeds", "1..4", "--jobs", "2"};
  for (const char* option : {"--detach", "--dry-run"}) {
    command.emplace_back(option);
    const Answer answer = user.sabath(command);
    INFO(answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("site 'here': ours cannot be held to 2 at once"));
  }
  CHECK_FALSE(user.was_asked());
  CHECK_FALSE(fs::exists(user.sabath.home() / "studies"));
  CHECK(user.sabath.count_runs() == 0);
}

TEST_CASE("described site: show says of a run what status says, in words") {
  const DescribedSite user;
  REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--detach"}).status == 0);
  const Answer waits = user.sabath({"show", "@running"});
  CHECK_THAT(waits.output, Contains("planned") && Contains("waits: waits its turn"));
  user.say("");
  REQUIRE(eventually([&] {
    return user.sabath({"status", "@running"}).output.find("unknown") != std::string::npos;
  }));
  const Answer lost = user.sabath({"show", "@running"});
  CHECK_THAT(lost.output, Contains("unknown") && !Contains("planned"));
  CHECK_THAT(user.sabath({"--json", "show", "@running"}).output, Contains("\"unknown\""));
}

TEST_CASE("described site: a job of doctor's that nobody knows any more is told so") {
  const DescribedSite user;
  user.say("");
  const Answer answer = user.sabath({"doctor", "--site", "here", "--timeout", "60s"});
  INFO(answer.output);
  CHECK_THAT(answer.output,
             Contains("ended (the scheduler does not know it) without a word") &&
                 !Contains("its log ends") && !Contains("()"));
}

TEST_CASE("described site: who ends the waiting for doctor's job ends the job, not the site") {
  DescribedSite user;
  user.tool("ostat", "echo >> \"$OURS_STATE/polled\"; for id; do echo \"$id W\"; done");
  user.note_ends();
  Running doctor = user.sabath.start({"doctor", "--site", "here"});
  REQUIRE(eventually([&] { return fs::exists(user.sabath.folder() / "polled"); }));
  doctor.signal(SIGINT);
  const Answer answer = doctor.wait();
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 130);
  CHECK_THAT(answer.errors, Contains("job 1") && Contains("it was cancelled"));
  CHECK_THAT(answer.output + answer.errors, !Contains("--timeout"));
  CHECK(user.ended() == "1\n");
}

TEST_CASE("described site: doctor ends its job where nobody says how it stands") {
  const DescribedSite user;
  user.go_deaf();
  const Answer answer = user.sabath({"doctor", "--site", "here", "--timeout", "2s"});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output,
             Contains("did not end in time: ours: ostat: cannot contact the queue") &&
                 Contains("it was cancelled"));
  CHECK(user.ended() == "1\n");
}

TEST_CASE("described site: doctor does not advise a longer wait for a job that cannot start") {
  const DescribedSite user(json{{"grace", "1s"}});
  user.say("W Held");
  const Answer answer = user.sabath({"doctor", "--site", "here", "--timeout", "60s"});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output,
             Contains("does not start: waits its turn (Held), which as a rule does not pass") &&
                 Contains("another partition") && !Contains("--timeout"));
  CHECK_THAT(answer.errors,
             Contains("job 1: waits its turn (Held), which as a rule does not pass"));
}

TEST_CASE("described site: doctor asks for no more time than the site") {
  json description = described();
  description["submit"]["options"].push_back("-t {time_s}");
  const DescribedSite user(json{{"resources", {{"time", "1m"}}}}, description);
  user.tool("osub", "cp \"${!#}\" \"$OURS_STATE/script\"; echo job 1");
  user.sabath({"doctor", "--site", "here", "--timeout", "1s"});
  CHECK_THAT(text_of(user.sabath.folder() / "script"), Contains("#OURS -t 60\n"));
}

TEST_CASE("described site: doctor says of a job that cannot be cancelled which one is left") {
  const DescribedSite user;
  user.tool("oend", "echo 'no permission' >&2; exit 1");
  const Answer answer = user.sabath({"doctor", "--site", "here", "--timeout", "2s"});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output,
             Contains("ok    submission") && Contains("did not end in time: waits its turn") &&
                 Contains("job 1 could not be cancelled") && Contains("no permission"));
}

TEST_CASE("described site: who ends the waiting for a job that builds ends it, deaf queue or not") {
  DescribedSite user(json{{"build_in_job", true}});
  user.go_deaf();
  Running run = user.sabath.start({"run", user.recipe("{}"), "--on", "here"});
  REQUIRE(eventually([&] {
    return text_of(user.sabath.folder() / "started-1.err").find("cannot contact") !=
           std::string::npos;
  }));
  run.signal(SIGTERM);
  const Answer answer = run.wait();
  INFO(answer.errors);
  CHECK(answer.status == 130);
  CHECK_THAT(answer.errors, Contains("job 1 of 'here': nothing is ready; it was cancelled"));
  CHECK(user.ended() == "1\n");
}

TEST_CASE("described site: what was cancelled is told though another scheduler is known no more") {
  const DescribedSite user;
  const fs::path config = user.sabath.folder() / "config";
  write_text(config / "schedulers/gone.json", described().dump());
  write_text(config / "sites/there.json", R"({"schema": 1, "scheduler": "gone"})");
  const std::string recipe = user.recipe("{}");
  for (const char* site : {"here", "there"})
    REQUIRE(user.sabath({"run", recipe, "--on", site, "--detach"}).status == 0);
  fs::remove(config / "schedulers/gone.json");
  const Answer answer = user.sabath({"cancel", "state=planned"});
  INFO(answer.output << answer.errors);
  CHECK(answer.status != 0);
  CHECK_THAT(answer.errors, Contains("gone"));
  CHECK_THAT(answer.output,
             Contains(user.sabath.run_directories().front().filename().string()) &&
                 Contains("interrupted"));
}

TEST_CASE("described site: doctor finds that nothing can be handed in, and why") {
  const DescribedSite user;
  SECTION("its tool is not there") {
    fs::remove(user.tools() / "osub");
    const Answer answer = user.sabath({"doctor", "--site", "here"});
    CHECK(answer.status == 1);
    CHECK_THAT(
        answer.output,
        Contains("bad   submission: ours: osub: cannot be started: no such command on PATH") &&
            Contains("its tools are on PATH"));
  }
  SECTION("it refuses") {
    user.tool("osub", "echo 'invalid account' >&2; exit 1");
    const Answer answer = user.sabath({"--json", "doctor", "--site", "here"});
    CHECK(answer.status == 1);
    CHECK_THAT(answer.output, Contains("ours: osub: invalid account"));
    CHECK(answer.errors.empty());
  }
}

TEST_CASE("described site: doctor looks at the folders that the site names for its nodes") {
  const DescribedSite user({{"scratch", "$NO_SUCH_DISK/x"},
                            {"staging", {{"folder", "${OURS_DISK}"}, {"inputs", true}}},
                            {"variables", {{"OURS_DISK", "/proc/none"}}}});
  // A job that runs, and ends, before its id is given: what a tool leaves behind is ended with it.
  user.tool("osub", "bash \"$1\" > /dev/null 2>&1 < /dev/null; echo job 1");
  const Answer answer = user.sabath({"doctor", "--site", "here"});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output,
             Contains("bad   node: scratch: '$NO_SUCH_DISK/x' is not a folder on this node") &&
                 Contains("bad   node: staging.folder: /proc/none"));
}

TEST_CASE("described site: a line of the setup that fails is told by doctor and by the run") {
  const DescribedSite user;
  const fs::path file = user.sabath.folder() / "asks.sh";
  write_text(file, "false\ntrue\n");  // a file's own questions are not faults of the setup
  json site = {{"schema", 1}, {"scheduler", "ours"}, {"grace", "1s"}};
  site["setup"] = {"if false; then",
                   "false; fi",
                   "false || true",
                   ". " + file.string(),
                   "( exit 7 )",
                   "set -u",
                   "no_such_module load x"};
  write_text(user.sabath.folder() / "config/sites/here.json", site.dump());
  user.tool("osub", "bash \"$1\" > /dev/null 2>&1 < /dev/null; echo job 1");
  user.say("E");
  const std::string said = "line 5 ended with status 7, line 7 ended with status 127";
  const Answer doctor = user.sabath({"doctor", "--site", "here"});
  INFO(doctor.output << doctor.errors);
  CHECK_THAT(doctor.output, Contains("note  node: setup: " + said));
  const Answer run = user.sabath({"run", user.recipe("{}"), "--on", "here"});
  INFO(run.output << run.errors);
  CHECK(run.status == 0);
  CHECK_THAT(run.output, Contains("note: setup of the site: " + said));
  site["setup"] = {"true"};
  write_text(user.sabath.folder() / "config/sites/here.json", site.dump());
  CHECK_THAT(user.sabath({"doctor", "--site", "here"}).output, !Contains("setup"));
}

TEST_CASE("described site: a job is asked for the time of all its runs, and a dry run says so") {
  json description = described();
  description["submit"]["options"].push_back("-t {time_s}");
  const DescribedSite user(json(), description);
  const std::vector<std::string> command{
      "run", user.recipe(R"({"time": "10m"})"), "--on", "here", "--seeds", "1..3", "--pack", "8"};
  auto dry = command;
  dry.push_back("--dry-run");
  const Answer shown = user.sabath(dry);
  INFO(shown.errors);
  REQUIRE(shown.status == 0);
  auto detached = command;
  detached.push_back("--detach");
  REQUIRE(user.sabath(detached).status == 0);
  const fs::path study = *fs::directory_iterator(user.sabath.home() / "studies");
  const std::string script = text_of(study / "jobs/1/job-1.sh");
  constexpr std::string_view option = "#OURS -t ";
  REQUIRE(script.find(option) != std::string::npos);
  const std::chrono::seconds asked(std::stoi(script.substr(script.find(option) + option.size())));
  CHECK(asked >= std::chrono::minutes(30));
  CHECK(asked < std::chrono::minutes(40));
  CHECK_THAT(shown.output, Contains(sabath::base::format_duration(asked) + "\n"));
}

TEST_CASE("described site: variables of the shell are told to be left behind and not repeated") {
  const bool is_said = GENERATE(false, true);
  DescribedSite user(is_said ? json{{"variables", {{"OMP_NUM_THREADS", "2"}}}} : json());
  user.sabath.environment()["OMP_NUM_THREADS"] = "3";
  const Answer answer = user.sabath({"run", user.recipe("{}"), "--on", "here", "--detach"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const std::string said = answer.errors.substr(0, answer.errors.find(" not reach jobs"));
  CHECK((said.find("OMP_NUM_THREADS") == std::string::npos) == is_said);
  const json plan = json::parse(text_of(user.sabath.run_directories().back() / "plan.json"));
  CHECK_THAT(plan["reproduce"].get<std::string>(), Catch::StartsWith("sabath run "));
}

TEST_CASE("described site: what a site adds to a job is what the stages of its runs have") {
  json description = described();
  description["submit"]["options"].push_back("-t {tasks}");
  const json site{{"resources", {{"tasks", 4}, {"cpus", 2}}}};
  const DescribedSite user(site, description);
  const std::string folder = user.recipe(R"({"cpus": 1})");
  CHECK(user.sabath({"run", folder, "--on", "here", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  const json resources = json::parse(text_of(run / "plan.json"))["stages"][0]["resources"];
  CHECK(resources["tasks"] == 4);
  CHECK(resources["cpus"] == 1);
  CHECK_THAT(text_of(run / "jobs/1/job-1.sh"), Contains("#OURS -c 1\n"));
}

TEST_CASE("described site: code on the site's PYTHONPATH is looked at, on the shell's it is not") {
  const sabath::base::TempDir own(fs::temp_directory_path());
  for (const char* const name : {"ours", "mine"}) {
    fs::create_directories(own.path() / name);
    write_text(own.path() / name / "module.py", name);
  }
  const json variables = {{"PYTHONPATH", (own.path() / "ours").string()}};
  DescribedSite user(json{{"variables", variables}});
  user.sabath.environment()["PYTHONPATH"] = (own.path() / "mine").string();
  REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--detach"}).status == 0);
  const json plan = json::parse(text_of(user.sabath.run_directories().back() / "plan.json"));
  CHECK(plan["code"].contains("folder ours"));
  CHECK_FALSE(plan["code"].contains("folder mine"));
}

TEST_CASE("described site: who waits is told why, and what does not pass by itself") {
  json description = described();
  description["submit"]["options"].push_back("-a 1-{last}");
  description["arrays"] = {{"task", "{1}_{task}"}, {"log", "%a"}};
  description["node"] = {{"index", "$OURS_INDEX"}};
  description["poll"][0]["rows"] = "(?m)^(?<id>[0-9_]+) (?<state>[A-Z]+)(?: (?<reason>.*))?$";
  const DescribedSite user(json(), description);
  SECTION("one that passes") {
    user.say("W Resources");
    REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--detach"}).status == 0);
    const Answer answer = user.sabath({"wait", "@running", "--timeout", "1s"});
    CHECK_THAT(answer.errors, Contains(" waits: waits its turn (Resources)\n"));
    CHECK_THAT(answer.errors, !Contains("sabath cancel"));
  }
  SECTION("one that does not") {
    user.say("W HeldByUser");
    REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--seeds", "1..3", "--detach"})
                .status == 0);
    const Answer answer = user.sabath({"wait", "--timeout", "1s"});
    INFO(answer.errors);
    const std::string study =
        fs::directory_iterator(user.sabath.home() / "studies")->path().filename().string();
    CHECK_THAT(answer.errors,
               Contains("3 runs wait: 3 waits its turn (HeldByUser), which as a rule does not "
                        "pass by itself") &&
                   Contains("'sabath cancel " + study + "'") &&
                   Contains("lower \"resources\" of the site (time, cpus, nodes, memory)"));
    user.tool("ostat", "for id; do echo \"$id W Held by ${id/_/ }\"; done");
    const Answer numbered = user.sabath({"wait", "--timeout", "7s"});
    INFO(numbered.errors);
    const std::size_t first = numbered.errors.find("Held by 1 1), 1 waits its turn (Held by 1 2)");
    CHECK(first != std::string::npos);
    CHECK(numbered.errors.find("Held by", numbered.errors.find("does not pass", first)) ==
          std::string::npos);
  }
}

TEST_CASE("described site: what a scheduler refuses of several steps is ended and told") {
  json description = described();
  description["submit"]["options"].push_back("-w {after}");
  const DescribedSite user(json(), description);
  user.tool("osub",
            "echo >> \"$OURS_STATE/jobs\"\n"
            "if test $(wc -l < \"$OURS_STATE/jobs\") = 2; then echo 'two is too many' >&2; exit 1; "
            "fi\necho job 1");
  user.tool("oend", "echo \"$@\" >> \"$OURS_STATE/ended\"");
  const std::string recipe = user.sabath.recipe("steps", R"({"schema": 1, "name": "steps",
    "environment": {"layers": []},
    "stages": [
      {"name": "one", "resources": {"cpus": 1}, "run": {"shell": "true"}},
      {"name": "two", "needs": ["one"], "resources": {"cpus": 2}, "run": {"shell": "true"}},
      {"name": "three", "needs": ["two"], "resources": {"cpus": 1}, "run": {"shell": "true"}}]})");
  const bool is_study = GENERATE(false, true);
  std::vector<std::string> command{"run", recipe, "--on", "here"};
  if (is_study) command.insert(command.end(), {"--seeds", "1..2"});
  const Answer answer = user.sabath(command);
  INFO(answer.errors);
  CHECK(answer.status == 14);
  const fs::path run = user.sabath.run_directories().front();
  CHECK_THAT(answer.errors,
             Contains("steps 2 to 3 were never handed in: ours: osub: two is too many") &&
                 Contains(is_study ? "'sabath run --resume steps-study-"
                                   : run.filename().string() + ": steps 2"));
  CHECK(text_of(user.sabath.folder() / "ended") == "1\n");
  const json status = json::parse(text_of(run / "status.json"));
  CHECK(status["state"] == "interrupted");
  CHECK_THAT(status["message"].get<std::string>(), Contains("two is too many"));
  CHECK_THAT(user.sabath({"status"}).output, Contains("nothing is under way"));
}

TEST_CASE("described site: status counts whole studies, and shows who waits for ever") {
  const DescribedSite user;
  user.say("W Priority");
  REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--seeds", "1..12", "--detach"})
              .status == 0);
  // "0 RUN": the first, and so job 1.
  const std::string runs =
      text_of(fs::directory_iterator(user.sabath.home() / "studies")->path() / "runs");
  const std::string over = runs.substr(2, runs.find('\n') - 2);
  const Answer cancelled = user.sabath({"cancel", over});
  REQUIRE(cancelled.status == 0);
  CHECK_THAT(cancelled.output,
             Catch::StartsWith("of study tiny-study-") && Contains(": 1 run: 1 interrupted"));
  user.tool("ostat",
            "for id; do if test $id = 4; then echo \"$id W Held\"; else echo \"$id W Priority\"; "
            "fi; done");
  Answer answer;
  REQUIRE(eventually([&] {
    answer = user.sabath({"status"});
    return answer.output.find("(Held)") != std::string::npos;
  }));
  INFO(answer.output);
  CHECK_THAT(answer.output,
             Contains("12 runs: 1 interrupted, 11 planned (waits: waits its turn (Priority))"));
  const auto shown = answer.output.find(
      "waits its turn (Held), which as a rule does not pass by "
      "itself");
  CHECK(shown != std::string::npos);
  CHECK(answer.output.find(over) != std::string::npos);
}

TEST_CASE("described site: of a large study that is cancelled the runs are counted") {
  const DescribedSite user;
  REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--seeds", "1..25", "--detach"})
              .status == 0);
  const std::string study =
      fs::directory_iterator(user.sabath.home() / "studies")->path().filename().string();
  const Replacements memos(user.sabath.home() / "state/schedulers");
  const Answer answer = user.sabath({"cancel", study});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const std::size_t written = memos.count();
  CHECK(written >= 1);
  CHECK(written < 10);  // not for each run
  CHECK_THAT(answer.errors, Contains("25 runs: 25 interrupted"));
  CHECK_THAT(answer.errors, !Contains("run tiny-"));
  CHECK_THAT(answer.output, Contains("25 runs: 25 interrupted") && Contains("... and 5 more"));
}

TEST_CASE("described site: a run whose scheduler's tools are not here is closed at once") {
  const DescribedSite user;
  fs::remove(user.tools() / "osub");
  const Answer answer = user.sabath({"run", user.recipe("{}"), "--on", "here"});
  CHECK(answer.status == 14);
  CHECK_THAT(answer.errors, Contains("its tools are on PATH"));
  const json status = json::parse(text_of(user.sabath.run_directories().back() / "status.json"));
  CHECK(status["state"] == "interrupted");
  CHECK_THAT(status["message"].get<std::string>(), Contains("it was not handed in: ours: osub"));
}

TEST_CASE("described site: the command after again repeats the run to the bit") {
  DescribedSite user(json{{"variables", {{"GOMP_SPINCOUNT", "5"}}}});
  // Its jobs are over before their ids are given, and have one CPU.
  user.tool("osub",
            "echo >> \"$OURS_STATE/jobs\"\n"
            "cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')\n"
            "taskset -c $cpu bash \"$1\" > /dev/null 2>&1 < /dev/null\n"
            "echo \"job $(wc -l < \"$OURS_STATE/jobs\")\"");
  user.say("E");
  fs::create_symlink(SABATH_PROGRAM, user.tools() / "sabath");
  const std::string recipe = user.sabath.shell_recipe(
      "sensitive",
      R"(echo "$(nproc) $GOMP_SPINCOUNT {param.rate} {seed}" > {output}/r.txt; )"
      R"(echo "{{\"step\": 1, \"loss\": $(nproc).$GOMP_SPINCOUNT}}" >> $SABATH_METRICS)",
      R"({"parameters": {"rate": {"type": "float", "default": 1}},
          "metrics": {"loss": {"unit": "1"}}})",
      R"({"outputs": ["r.txt"], "resources": {"cpus": 1}})");
  user.sabath.environment()["GOMP_SPINCOUNT"] = "17";  // reaches no job
  std::vector<std::string> command{"run", recipe, "--on", "here", "--set", "rate=0.25"};
  SECTION("of a single run") {}
  SECTION("of each run of a study") {
    command.insert(command.end(), {"--seeds", "1..2"});
  }
  const Answer first = user.sabath(command);
  INFO(first.output << first.errors);
  REQUIRE(first.status == 0);
  user.sabath.environment().erase("GOMP_SPINCOUNT");
  for (const fs::path& run : user.sabath.run_directories()) {
    const std::string again = json::parse(text_of(run / "record.json"))["reproduce"];
    INFO(again);
    CHECK_THAT(again, Contains("sabath run ") && Contains("--on here") && Contains("rate=0.25"));
    CHECK_THAT(text_of(run / "outputs/go/r.txt"), Contains("1 5 0.25 "));
    const std::string id = run.filename().string();
    CHECK_THAT(user.sabath({"show", id}).output, Contains(again));
    const std::size_t runs = user.sabath.count_runs();
    const Answer typed = user.sabath.program({"sh", "-c", again});
    INFO(typed.output << typed.errors);
    REQUIRE(typed.status == 0);
    REQUIRE(user.sabath.count_runs() == runs + 1);
    const Answer compared = user.sabath(
        {"compare", id, user.sabath.run_directories().back().filename(), "--require", "bitwise"});
    INFO(compared.output);
    CHECK(compared.status == 0);
    CHECK_THAT(compared.output, Contains("PASS"));
  }
}

TEST_CASE("described site: who waits for @last or cancels it hears of the run that has not ended") {
  const DescribedSite user;
  REQUIRE(user.sabath({"run", user.recipe("{}")}).status == 0);
  const std::string ended = user.sabath.run_directories().back().filename();
  const std::string command = GENERATE("wait", "cancel");
  const std::string alone = user.sabath({command, "@last"}).errors;
  CHECK_THAT(alone, !Contains("@running"));
  const json status = json::parse(text_of(user.sabath.run_directories().back() / "status.json"));
  const std::string end = status["updated"];
  CHECK((alone.find("run " + ended + " has ended already at " + end + ": ok") !=
         std::string::npos) == (command == "cancel"));
  REQUIRE(user.sabath({"run", user.recipe("{}"), "--on", "here", "--detach"}).status == 0);
  const std::string waits = user.sabath.run_directories().back().filename();
  const Answer answer = user.sabath({command, "@last"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors,
             Contains("@last is " + ended + ", which has ended; @running is " + waits));
  CHECK_THAT(user.sabath({command, ended}).errors, !Contains("@running"));
}

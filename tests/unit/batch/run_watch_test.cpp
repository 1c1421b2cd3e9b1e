#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "unit/batch/watched_batch.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/batch/batch_steps.hpp>
#include <sabath/batch/run_accounting.hpp>
#include <sabath/batch/run_watch.hpp>
#include <sabath/execution/host_lock.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

using namespace sabath;
using Catch::Matchers::Contains;
using Batch = test::WatchedBatch;
using spec::RunState;
using std::chrono::seconds;
namespace fs = std::filesystem;

TEST_CASE("run watch: a run waits, runs and ends as its own files say") {
  Batch batch(2);
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::planned);
  CHECK(watch.runs()[0].detail == "waits: PENDING (Resources)");

  batch.queue.state_of = [](const std::string&) { return "RUNNING|None"; };
  batch.files->note_started(batch.id(0), 1);
  batch.clock.move(seconds(11));
  CHECK(watch.look({}));
  CHECK(watch.runs()[0].state == RunState::running);
  CHECK(watch.runs()[1].detail == "starts on its node");

  batch.finish(0);
  batch.files->note_ended(batch.id(0));
  CHECK(watch.look({}));
  CHECK(watch.runs()[0].state == RunState::ok);
  CHECK(watch.going_on() == 1);
}

TEST_CASE("run watch: what a scheduler said before a run began is not why it waits now") {
  Batch batch(1);
  batch::RunWatch watch = batch.watch();
  watch.look({});
  batch.clock.move(seconds(1));
  batch.files->note_started(batch.id(0), 1);
  fs::last_write_time(batch.files->started() / (batch.id(0) + ".1"),
                      fs::file_time_type::clock::from_sys(batch.clock.now()));
  watch.look({});
  CHECK(batch.queue.questions == 1);
  CHECK(watch.runs()[0].state == RunState::running);
  CHECK(watch.runs()[0].detail.empty());
  CHECK(watch.runs()[0].waits_for.empty());
  // Asked again it still waits: it was put back into the queue.
  batch.clock.move(seconds(12));
  watch.look({});
  CHECK(batch.queue.questions == 2);
  CHECK(watch.runs()[0].state == RunState::running);
  CHECK(watch.runs()[0].detail == "waits to go on: PENDING (Resources)");
}

TEST_CASE("run watch: a reason that does not pass by itself is told from others") {
  Batch batch(3);
  batch.queue.state_of = [](const std::string& task) -> std::string {
    if (task == "12_1") return "PENDING|JobHeldUser";
    return task == "12_2" ? "PENDING|Resources" : "PENDING|None";
  };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].is_stuck);
  CHECK(watch.runs()[0].waits_for == "PENDING (JobHeldUser)");
  CHECK_FALSE(watch.runs()[1].is_stuck);
  CHECK(watch.runs()[1].waits_for == "PENDING (Resources)");
  CHECK(watch.runs()[2].waits_for.empty());
  batch.queue.state_of = [](const std::string&) { return "RUNNING|None"; };
  batch.clock.move(seconds(12));
  watch.look({});
  CHECK_FALSE(watch.runs()[0].is_stuck);
  CHECK(watch.runs()[0].waits_for.empty());
}

TEST_CASE(
    "run watch: a job that ended before its run began tells the end of its log without secrets") {
  Batch batch(2);
  batch.queue.state_of = [](const std::string&) { return "FAILED|NonZeroExitCode"; };
  const std::string before(5000, 'x');
  std::ofstream(batch.files->log_of(1, 1))
      << before << "password=" << before << "\nloading\n\npassword=hunter2hunter\n"
      << "job-1.sh: line 9: \x1b[31m/opt/sabath: not found\n";
  batch::RunWatch watch = batch.watch();
  watch.look({});
  batch.clock.move(seconds(21));
  watch.look({});
  const std::string said = "its job failed: FAILED (NonZeroExitCode), before the run began";
  CHECK(watch.runs()[0].state == RunState::failed);
  CHECK_THAT(watch.runs()[0].detail,
             Catch::Matchers::StartsWith(said + "; its log ends: loading | password=[redacted] | "
                                                "job-1.sh: line 9: ") &&
                 Contains("/opt/sabath: not found") && !Contains("\x1b") && !Contains("xxx"));
  CHECK(batch.run(batch.id(0)).read_status().message == watch.runs()[0].detail);
  CHECK(watch.runs()[1].detail ==
        said + " and without a word: \"setup\" and \"program\" of site 'test' come first");
}

TEST_CASE("run watch: a run that its scheduler ended is closed when the grace time is over") {
  Batch batch(4);
  batch.queue.state_of = [&](const std::string& task) -> std::string {
    if (task == "12_4") return "PREEMPTED|None";
    if (task == "12_1") return "TIMEOUT|TimeLimit";
    if (task == "12_2") return "CANCELLED|None";
    return "NODEFAIL|None";
  };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.going_on() == 4);
  CHECK_THAT(watch.runs()[0].detail, Contains("say nothing of that yet"));
  batch.clock.move(seconds(21));
  CHECK(watch.look({}));
  CHECK(watch.runs()[0].state == RunState::failed);
  CHECK(watch.runs()[0].detail == "its job ran out of time: TIMEOUT (TimeLimit)");
  CHECK(watch.runs()[1].state == RunState::interrupted);
  CHECK(watch.runs()[2].state == RunState::lost);
  CHECK(watch.runs()[3].state == RunState::interrupted);
  CHECK(watch.runs()[3].detail == "its job had to make way for another: PREEMPTED");
  CHECK(batch.run(batch.id(0)).read_status().state == RunState::failed);
  CHECK(fs::exists(batch.runs() / ".inbox" / (batch.id(0) + ".finished")));
}

TEST_CASE("run watch: what the file system shows late is waited for") {
  Batch batch(1);
  batch.queue.state_of = [](const std::string&) { return "COMPLETED|None"; };
  batch.files->note_ended(batch.id(0));
  batch::RunWatch watch = batch.watch();
  watch.look({});
  batch.clock.move(seconds(10));
  watch.look({});
  CHECK(watch.runs()[0].goes_on());
  batch.finish(0);
  CHECK(watch.look({}));
  CHECK(watch.runs()[0].state == RunState::ok);
}

TEST_CASE("run watch: a job that vanished is unknown and never done, until its record turns up") {
  Batch batch(1);
  batch.queue.state_of = [](const std::string&) { return ""; };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].goes_on());
  batch.clock.move(seconds(21));
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::unknown);
  CHECK_FALSE(watch.runs()[0].goes_on());
  CHECK(batch.run(batch.id(0)).read_status().state == RunState::planned);
  batch.finish(0);
  batch.clock.move(seconds(21));
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::ok);
}

TEST_CASE("run watch: an attempt out of time is the end of its run once its job is over") {
  const std::string said = GENERATE("TIMEOUT|TimeLimit", "");  // the other one has been forgotten
  Batch batch(1);
  std::string state = "PENDING|BeginTime";
  batch.queue.state_of = [&](const std::string&) { return state; };
  const home::RunFiles files = batch.run(batch.id(0));
  spec::RunRecord record = test::full_record();
  record.run_id = batch.id(0);
  record.state = RunState::failed;
  fs::create_directories(files.attempt(1));
  std::ofstream(home::RunFiles(files.attempt(1)).record()) << home::record_text(record);
  spec::RunStatus status;
  status.state = RunState::interrupted;
  status.attempt = 1;
  files.write_status(status);
  batch.files->note_ended(batch.id(0));
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].goes_on());
  state = said;
  batch.clock.move(seconds(11));
  watch.look({});
  batch.clock.move(seconds(21));
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::failed);
  CHECK(fs::exists(files.record()));
}

TEST_CASE("run watch: the scheduler is asked one question for all, at most twelve times a minute") {
  Batch batch(100);
  batch::RunWatch first = batch.watch();
  batch::RunWatch second = batch.watch();
  first.look({});
  second.look({});
  CHECK(batch.queue.questions == 1);
  for (int i = 0; i < 120; ++i) {
    batch.clock.move(std::chrono::milliseconds(500));
    first.look({});
    second.look({});
  }
  CHECK(batch.queue.questions <= 13);  // and the first one
  const int before = batch.queue.questions;
  for (int i = 0; i < 120; ++i) {
    batch.clock.move(std::chrono::milliseconds(500));
    first.look({});
  }
  CHECK(batch.queue.questions - before <= 6);
  CHECK(batch.queue.questions - before >= 4);
}

TEST_CASE("run watch: who comes while another command asks takes its answer") {
  Batch batch(1);
  base::SystemClock clock;
  batch.queue.pause = std::chrono::milliseconds(200);
  std::vector<std::jthread> commands;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 4; ++i) {
    commands.emplace_back([&] {
      test::RecordingObserver observer;
      batch::SchedulerMonitor monitor(*batch.scheduler, batch.home / "memo.json", clock, observer);
      if (monitor.views({"12_1"}, {}).contains("12_1")) ++answered;
    });
  }
  commands.clear();
  CHECK(batch.queue.questions == 1);
  CHECK(answered == 4);
}

TEST_CASE("run watch: a scheduler that cannot be asked changes nothing, and is told once") {
  Batch batch(1);
  batch::RunWatch watch = batch.watch();
  watch.look({});
  batch.queue.is_down = true;
  for (int i = 0; i < 20; ++i) {
    batch.clock.move(seconds(12));
    watch.look({});
  }
  CHECK(watch.runs()[0].goes_on());
  CHECK(watch.runs()[0].detail == "waits: PENDING (Resources)");
  CHECK(batch.observer.warnings.size() == 1);
}

TEST_CASE("run watch: a scheduler that never answers is asked as seldom, and that is told") {
  Batch batch(2);
  batch.queue.is_down = true;
  batch::RunWatch watch = batch.watch();
  for (int i = 0; i < 120; ++i) {
    watch.look({});
    batch.clock.move(std::chrono::milliseconds(500));
  }
  CHECK(batch.queue.questions <= 13);
  CHECK(watch.going_on() == 2);
  CHECK(watch.runs()[0].detail ==
        "cannot be asked about: queue: queue: queue: cannot contact the controller");
  CHECK(batch.observer.warnings.size() == 1);
  batch.clock.move(seconds(200));
  watch.look({});
  CHECK(watch.runs()[1].state == RunState::unknown);
  batch.queue.is_down = false;
  batch.clock.move(seconds(12));
  watch.look({});
  CHECK(watch.runs()[1].detail == "waits: PENDING (Resources)");
  CHECK(watch.going_on() == 2);
}

TEST_CASE("run watch: a submission that nobody could write down is found by its comment") {
  Batch batch(2, false);
  SECTION("its submitter is still at it") {
    batch::RunWatch watch = batch.watch();
    watch.look({});
    CHECK(watch.runs()[0].detail == "is being handed to the scheduler");
  }
  SECTION("it was accepted") {
    batch.run(batch.id(0)).write_status({});
    batch.clock.move(std::chrono::hours(1));
    batch.queue.found = "99|supercell-study-20261122-080000-abcdef-1\n";
    batch::RunWatch watch = batch.watch();
    watch.look({});
    REQUIRE(batch.files->read_jobs());
    CHECK(batch.files->read_jobs()->jobs == std::vector<std::string>{"99"});
    CHECK(watch.runs()[0].detail == "waits: PENDING (Resources)");
  }
  SECTION("it was not") {
    batch.run(batch.id(0)).write_status({});
    batch.clock.move(std::chrono::hours(1));
    batch::RunWatch watch = batch.watch();
    watch.look({});
    CHECK(watch.runs()[0].state == RunState::interrupted);
    CHECK(watch.runs()[1].detail == "it was ended before the scheduler had it");
  }
}

TEST_CASE("run watch: what a scheduler accounts is taken once the job is over, and asked seldom") {
  Batch batch(2);
  batch.queue.state_of = [](const std::string&) { return "RUNNING|None"; };
  batch.queue.accounted = "12_1|RUNNING|2|0\n12_2|COMPLETED|7|2048\n";
  for (std::size_t i : {0U, 1U}) {
    batch.finish(i);
    batch.files->note_ended(batch.id(i));
  }
  batch::RunWatch watch = batch.watch();
  watch.look({});
  REQUIRE(watch.going_on() == 0);
  const auto kept = [&](std::size_t i) {
    return batch::read_accounting(batch.runs() / batch.id(i));
  };
  for (int i = 0; i < 20; ++i)
    batch.keep_accounting(watch);
  CHECK(batch.queue.accounts == 1);
  CHECK_FALSE(kept(0));
  REQUIRE(kept(1));
  CHECK(kept(1)->job == "12_2");
  CHECK(kept(1)->use.elapsed_s == 7);
  CHECK(kept(1)->use.max_rss_bytes == 2048U * 1024);
  for (int i = 0; i < 3600; ++i) {
    batch.clock.move(seconds(1));
    batch.keep_accounting(watch);
  }
  CHECK(batch.queue.accounts > 5);
  CHECK(batch.queue.accounts < 15);
  batch.queue.accounted = "12_1|TIMEOUT|9|4096\n";
  batch.clock.move(std::chrono::hours(1));
  batch.keep_accounting(watch);
  REQUIRE(kept(0));
  CHECK(kept(0)->use.elapsed_s == 9);
  const int before = batch.queue.accounts;
  batch.clock.move(std::chrono::hours(1));
  batch.keep_accounting(watch);
  CHECK(batch.queue.accounts == before);
}

TEST_CASE("run watch: where there is no accounting that is asked once an hour") {
  Batch batch(1);
  batch.queue.accounted = "";
  batch.finish(0);
  batch.files->note_ended(batch.id(0));
  batch::RunWatch watch = batch.watch();
  watch.look({});
  for (int i = 0; i < 100; ++i) {
    batch.keep_accounting(watch);
    batch.clock.move(seconds(30));
  }
  CHECK(batch.queue.accounts == 1);
}

TEST_CASE("run watch: a job that nobody wrote down is looked for by one command at a time") {
  Batch batch(1, false);
  batch.run(batch.id(0)).write_status({});
  batch.clock.move(std::chrono::hours(1));
  batch.queue.found = "";
  CHECK(batch.monitor->find("x", {}).was_made);
  CHECK_FALSE(batch.monitor->find("x", {}).was_made);
  test::RecordingObserver observer;
  batch::SchedulerMonitor other(*batch.scheduler, batch.home / "memo.json", batch.clock, observer);
  CHECK_FALSE(other.find("x", {}).was_made);
  CHECK(batch.queue.searches == 1);
  batch.clock.move(seconds(11));
  batch.queue.found = "99|x\n";
  CHECK(other.find("x", {}).job == "99");
  CHECK(batch.queue.searches == 2);
}

TEST_CASE(
    "run watch: a job of which nobody can be asked any more says why, and is unknown in the end") {
  Batch batch(1);
  batch.ask_elsewhere();
  batch.queue.state_of = [](const std::string&) { return "RUNNING|None"; };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].detail == "starts on its node");
  batch.queue.state_of = [](const std::string&) { return ""; };
  batch.queue.is_old_down = true;
  batch.clock.move(seconds(12));
  watch.look({});
  CHECK(watch.runs()[0].goes_on());
  CHECK_THAT(watch.runs()[0].detail,
             Contains("cannot be asked about") && Contains("the data base is away"));
  batch.clock.move(seconds(100));
  watch.look({});
  CHECK(watch.runs()[0].goes_on());
  batch.clock.move(seconds(101));
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::unknown);
  CHECK_THAT(watch.runs()[0].detail, Contains("the data base is away"));
}

TEST_CASE("run watch: a state that the description does not know is told, and is no end") {
  Batch batch(1);
  batch.queue.state_of = [](const std::string&) { return "POWERING|None"; };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  batch.clock.move(seconds(300));
  watch.look({});
  CHECK(watch.runs()[0].goes_on());
  CHECK_THAT(watch.runs()[0].detail, Contains("POWERING") && Contains("does not explain"));
}

TEST_CASE("run watch: runs that are over want no scheduler that is described") {
  Batch batch(1);
  std::vector<batch::WatchedRun> runs{{batch.id(0),
                                       batch.runs() / batch.id(0),
                                       batch.files->directory(),
                                       "",
                                       RunState::ok,
                                       "done"}};
  batch::RunWatch watch(
      runs,
      [](const auto&) -> batch::SchedulerMonitor& {
        throw base::Error(base::ErrorKind::not_found, "no such scheduler");
      },
      batch.clock);
  CHECK(watch.runs()[0].state == RunState::ok);
}

TEST_CASE("run watch: what a job is found by is a name that every scheduler takes") {
  spec::BatchPlan plan;
  plan.batch_id = "supercell-study-20261122-080000-abcdef.1";
  plan.steps.resize(1);
  const std::string one = batch::comment_of(plan, 1);
  plan.steps.resize(2);
  const std::vector<std::string> all{one, batch::comment_of(plan, 1), batch::comment_of(plan, 2)};
  for (const std::string& word : all) {
    INFO(word);
    CHECK(word == launch::job_word(word));
  }
  CHECK(all[1] != all[2]);
}

TEST_CASE("run watch: two login nodes whose clocks are a minute apart do not ask more often") {
  Batch batch(1);
  test::FakeClock behind;
  batch.clock.move(seconds(60));
  test::RecordingObserver observer;
  batch::SchedulerMonitor other(*batch.scheduler, batch.home / "memo.json", behind, observer);
  const auto both_look_for = [&](int half_seconds) {
    const int before = batch.queue.questions;
    for (int i = 0; i < half_seconds; ++i) {
      batch.clock.move(std::chrono::milliseconds(500));
      behind.move(std::chrono::milliseconds(500));
      batch.monitor->views({"12_1"}, {});
      other.views({"12_1"}, {});
    }
    return batch.queue.questions - before;
  };
  both_look_for(120);
  CHECK(both_look_for(120) <= 13);
}

TEST_CASE("run watch: who holds the turn for ever keeps nobody from asking") {
  Batch batch(1);
  const execution::HostLock held(
      "ask-" + base::sha256_of((batch.home / "memo.json").string()).hex, seconds(0), batch.clock);
  REQUIRE(held.is_held());
  CHECK(batch.monitor->views({"12_1"}, {}).contains("12_1"));
  CHECK(batch.queue.questions == 1);
  batch.clock.move(seconds(12));
  batch.monitor->views({"12_1"}, {});
  CHECK(batch.queue.questions == 1);  // somebody may be at it
  batch.clock.move(seconds(61));
  batch.monitor->views({"12_1"}, {});
  CHECK(batch.queue.questions == 2);
}

// What is left of a study when its processes are killed, at whichever moment.
#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/app/run_study.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/execution/run_executors.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using base::ErrorKind;
using base::ProcessIdentity;
using home::RunFiles;
using home::StudyFiles;
using spec::RunState;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {

const std::string first = "tiny-20261120-103201-abcdefgh";
const std::string second = "tiny-20261120-103202-abcdefgh";

/// A study of three points, and runs.
class Study {
 public:
  Study() : files(home_ / "studies" / "tiny-20261120-103200-abcdef") {
    fs::create_directories(files.directory());
    spec::StudyPlan plan;
    plan.study_id = files.directory().filename();
    plan.points.resize(3);
    Study::write(files.directory() / "study.json", base::pretty_json(spec::to_json(plan)));
  }
  /// A run as `plan_run` leaves it, with a status that says what it is told.
  fs::path plan(const std::string& id, RunState state, const ProcessIdentity& process) const {
    const fs::path directory = folders().runs() / id;
    fs::create_directories(directory);
    spec::RunPlan plan = test::full_plan();
    plan.run_id = id;
    planning::write_plan(directory / "plan.json", plan);
    spec::RunStatus status;
    status.state = state;
    status.node = "node1";
    status.pid = process.pid;
    status.process = process.text();
    RunFiles(directory).write_status(status);
    return directory;
  }
  home::Folders folders() const {
    home::Folders folders;
    folders.home = home_.path();
    return folders;
  }
  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  fs::path driver(int number) const {
    return files.directory() / ("driver." + std::to_string(number));
  }
  const test::TempHome& home() const { return home_; }

 private:
  test::TempHome home_;

 public:
  StudyFiles files;
};

ProcessIdentity dead() {
  ProcessIdentity process = ProcessIdentity::current();
  process.boot = "another boot";
  return process;
}

ProcessIdentity elsewhere() {
  ProcessIdentity process = ProcessIdentity::current();
  process.host = "another host";
  return process;
}

/// A process with the arguments of an executor that has not said anything yet.
class SilentExecutor {
 public:
  SilentExecutor(const test::TempHome& home, const fs::path& directory, uid_t user = ::geteuid()) {
    // A script called "exec", since only its arguments count.
    Study::write(home / "exec", "read nothing < pipe\n");
    REQUIRE(::mkfifo((home / "pipe").c_str(), 0600) == 0);
    if (user != ::geteuid()) {
      fs::permissions(home.path(), fs::perms(0755));
      REQUIRE(::chown((home / "pipe").c_str(), user, static_cast<gid_t>(-1)) == 0);
    }
    const std::string folder = home.path().string();
    const std::string argument = directory.string();
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::chdir(folder.c_str()) == 0 && (user == ::geteuid() || ::setuid(user) == 0))
        ::execl("/bin/sh", "sabath", "exec", argument.c_str(), nullptr);
      ::_exit(1);
    }
    std::string arguments;
    while (!contains(arguments, argument)) {
      ::usleep(1000);
      std::ifstream file("/proc/" + std::to_string(pid_) + "/cmdline", std::ios::binary);
      std::getline(file, arguments);
    }
  }
  ~SilentExecutor() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  SilentExecutor(const SilentExecutor&) = delete;
  SilentExecutor& operator=(const SilentExecutor&) = delete;
  std::string identity() const { return ProcessIdentity::of(pid_).text(); }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("study files: of a list whose last line was torn at any byte only that line is missing") {
  const Study study;
  study.files.add_run({0, first});
  study.files.add_run({2, second});
  const fs::path list = study.files.directory() / "runs";
  const auto whole = fs::file_size(list);
  const auto before = std::string("0 " + first + "\n").size();
  const auto size = GENERATE_COPY(range(before, whole - 1));
  fs::resize_file(list, size);
  REQUIRE(study.files.runs().size() == 1);
  study.files.add_run({1, "tiny-20261120-103203-abcdefgh"});
  const auto runs = study.files.runs();
  // What was torn off never was started: it is noted before that.
  std::size_t found = 0;
  for (const StudyFiles::Run& run : runs) {
    if (run.run_id == first) found += 1;
    if (run.run_id == "tiny-20261120-103203-abcdefgh" && run.point == 1) found += 10;
    CHECK(run.run_id != second);
  }
  CHECK(found == 11);
}

TEST_CASE("study files: who is gone leaves the study to the next, once") {
  const Study study;
  Study::write(study.driver(1), dead().text());
  study.files.become_driver();
  CHECK(base::read_file(study.driver(2)) == ProcessIdentity::current().text());
  // Its own driver, such as a process that resumes what it began, is nobody else.
  study.files.become_driver();
  const int other = test::status_in_child([&] {
    const base::Error error = error_of([&] { study.files.become_driver(); });
    return contains(error.what(), "is already running, as process") ? 7 : 1;
  });
  CHECK(WEXITSTATUS(other) == 7);
}

TEST_CASE("study files: a driver that was cut off, or is empty, holds nobody up") {
  const Study study;
  Study::write(study.driver(1), GENERATE("", "abc.def"));
  CHECK_NOTHROW(study.files.become_driver());
}

TEST_CASE("study files: who may still be at it elsewhere is not taken for gone") {
  const Study study;
  Study::write(study.driver(1), elsewhere().text());
  const base::Error error = error_of([&] { study.files.become_driver(); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.what(), "may be running on another machine"));
  CHECK(contains(error.what(), "its last heartbeat was "));
  CHECK_FALSE(fs::exists(study.driver(2)));
}

TEST_CASE("study files: who has given no sign of life elsewhere can be taken over from") {
  const Study study;
  Study::write(study.driver(1), elsewhere().text());
  const auto since = [&](std::chrono::seconds silence) {
    fs::last_write_time(study.driver(1), fs::file_time_type::clock::now() - silence);
  };
  since(std::chrono::seconds(60));
  const base::Error early = error_of([&] { study.files.become_driver(true); });
  CHECK(contains(early.what(), "may be running on another machine"));
  CHECK(contains(early.hint(), "after that process has ended"));
  CHECK_FALSE(fs::exists(study.driver(2)));
  since(std::chrono::seconds(300));
  const base::Error unasked = error_of([&] { study.files.become_driver(); });
  CHECK(contains(unasked.hint(), "--take-over"));
  CHECK_FALSE(fs::exists(study.driver(2)));
  study.files.become_driver(true);
  CHECK(base::read_file(study.driver(2)) == ProcessIdentity::current().text());
  CHECK_NOTHROW(study.files.send_heartbeat());
  // Should the other one come back it sees that it has nothing more to start.
  Study::write(study.driver(3), elsewhere().text());
  const base::Error over = error_of([&] { study.files.send_heartbeat(); });
  CHECK(contains(over.what(), "another process has taken it over"));
}

TEST_CASE(
    "study files: another process that lives has the study, this one and one that is gone not") {
  const Study study;
  CHECK_FALSE(study.files.has_other_driver());
  Study::write(study.driver(1), dead().text());
  CHECK_FALSE(study.files.has_other_driver());
  study.files.become_driver();
  CHECK_FALSE(study.files.has_other_driver());
  const int other = test::status_in_child([&] { return study.files.has_other_driver() ? 7 : 1; });
  CHECK(WEXITSTATUS(other) == 7);
  Study::write(study.driver(3), elsewhere().text());
  CHECK(study.files.has_other_driver());
  fs::last_write_time(study.driver(3),
                      fs::file_time_type::clock::now() - std::chrono::seconds(300));
  CHECK_FALSE(study.files.has_other_driver());
}

TEST_CASE("study files: a driver gives signs of life") {
  const Study study;
  study.files.become_driver();
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(study.driver(1), old);
  study.files.send_heartbeat();
  CHECK(fs::last_write_time(study.driver(1)) > old + std::chrono::minutes(50));
}

TEST_CASE("executors: a run that was planned and not started has none, whoever planned it") {
  const Study study;
  const fs::path directory =
      study.plan(first, RunState::planned, GENERATE(dead(), ProcessIdentity::current()));
  CHECK(execution::executors_of({directory}).empty());
}

TEST_CASE("executors: one that was started and has said nothing yet is found by its arguments") {
  // Executors are looked for by ids among all processes: no other test may have this one's.
  const std::string silent = "tiny-20261120-103204-silently";
  const Study study;
  const fs::path directory = study.plan(silent, RunState::planned, dead());
  if (GENERATE(true, false)) Study::write(directory / "status.json", "{\"state");  // a power cut
  const SilentExecutor executor(study.home(), directory);
  const auto executors =
      execution::executors_of({directory, study.plan(second, RunState::planned, dead())});
  REQUIRE(executors.size() == 1);
  CHECK(executors.at(silent) == executor.identity());
}

TEST_CASE("executors: a process of another user is none, whatever it is called") {
  if (::geteuid() != 0) {
    WARN("skipped: a process of another user needs root");
    return;
  }
  const std::string strange = "tiny-20261120-103205-stranger";
  const Study study;
  const fs::path directory = study.plan(strange, RunState::planned, dead());
  constexpr uid_t nobody = 65534;
  const SilentExecutor stranger(study.home(), directory, nobody);
  CHECK(execution::executors_of({directory}).empty());
}

TEST_CASE("executors: one that runs is known by its status, one that is gone or done is none") {
  const Study study;
  const SilentExecutor executor(study.home(), study.folders().runs() / first);
  const fs::path running =
      study.plan(first, RunState::running, *ProcessIdentity::parse(executor.identity()));
  const fs::path killed = study.plan(second, RunState::running, dead());
  const fs::path done = study.plan("tiny-20261120-103203-abcdefgh", RunState::ok, dead());
  const auto executors =
      execution::executors_of({running, killed, done, study.folders().runs() / "removed"});
  REQUIRE(executors.size() == 1);
  CHECK(executors.at(first) == executor.identity());
}

TEST_CASE("executors: a status that names a process of another kind has none") {
  const Study study;
  const fs::path directory = study.plan(first, RunState::running, ProcessIdentity::current());
  CHECK(execution::executors_of({directory}).empty());
}

TEST_CASE("executors: one on another machine may go on, which is an error that says where") {
  const Study study;
  const fs::path directory = study.plan(first, RunState::running, elsewhere());
  const base::Error error = error_of([&] { execution::executors_of({directory}); });
  CHECK(error.kind() == ErrorKind::launch);
  CHECK(contains(error.what(), first + " may still be executed on node1"));
}

TEST_CASE(
    "executors: a run of a machine that is gone is given up when asked, unless it is written to") {
  const Study study;
  const fs::path directory = study.plan(first, RunState::running, elsewhere());
  fs::create_directories(directory / "attempts/1");
  Study::write(directory / "attempts/1/samples-node1.jsonl", "{}");
  const base::Error error = error_of([&] { execution::executors_of({directory}, true); });
  CHECK(contains(error.what(), "its last heartbeat was "));
  const auto old = fs::file_time_type::clock::now() - std::chrono::seconds(300);
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    fs::last_write_time(entry.path(), old);
  CHECK_THROWS(execution::executors_of({directory}));
  CHECK(execution::executors_of({directory}, true).empty());
  const spec::RunStatus status = RunFiles(directory).read_status();
  CHECK(status.state == RunState::lost);
  CHECK(contains(status.message, "it was given up: on node1 nobody had written to it for "));
}

TEST_CASE("study: what was planned, listed or started when it was killed is told as what it is") {
  const Study study;
  // Killed while it planned the first run, which the list knows already; the second was not
  // started; of the third's two runs one was killed and one is through.
  fs::create_directories(study.folders().runs() / first);
  study.files.add_run({0, first});
  study.plan(second, RunState::planned, dead());
  study.files.add_run({1, second});
  const std::string third = "tiny-20261120-103203-abcdefgh";
  const std::string fourth = "tiny-20261120-103204-abcdefgh";
  study.plan(third, RunState::running, dead());
  study.files.add_run({2, third});
  spec::RunRecord record = test::full_record();
  record.run_id = fourth;
  record.state = RunState::ok;
  Study::write(study.plan(fourth, RunState::ok, dead()) / "record.json", home::record_text(record));
  study.files.add_run({2, fourth});
  const analysis::StudyOutcome outcome = analysis::look_at_study(study.files, study.folders());
  CHECK_FALSE(outcome.points[0].run);
  REQUIRE(outcome.points[1].run);
  CHECK(outcome.points[1].run->state == RunState::lost);
  REQUIRE(outcome.points[2].run);
  CHECK(outcome.points[2].run->state == RunState::ok);
  CHECK(outcome.points[2].runs == 2);
  CHECK(outcome.open() == 2);
}

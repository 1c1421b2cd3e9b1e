#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <csignal>
#include <set>

using namespace sabath;
using home::RunFiles;
namespace fs = std::filesystem;

TEST_CASE("run files: a status that was written is read again") {
  const test::TempHome home;
  const RunFiles files(home.path());
  spec::RunStatus status;
  home::stamp_process(status);
  status.stage = "train";
  for (const auto state : {spec::RunState::running, spec::RunState::failed}) {
    status.state = state;
    files.write_status(status);
    CHECK(files.read_status() == status);
  }
}

TEST_CASE("run files: a run without a record has none, one without a plan is an error") {
  const test::TempHome home;
  const RunFiles files(home.path());
  CHECK(!files.read_record());
  const base::Error error = test::error_of([&] { static_cast<void>(files.read_plan()); });
  CHECK(error.kind() == base::ErrorKind::not_found);
  CHECK(test::contains(error.what(), files.plan().string()));
}

TEST_CASE("run files: a record that names files elsewhere is refused") {
  const test::TempHome home;
  const RunFiles files(home.path());
  spec::RunRecord record;
  record.stages.push_back({"train"});
  record.outputs.push_back({"train", "model/w.h5"});
  SECTION("as it is written") {
    REQUIRE(files.write_record(record));
    CHECK(files.read_record() == record);
    return;
  }
  SECTION("a path that leads out") {
    record.outputs[0].path = "../../plan.json";
  }
  SECTION("an absolute path") {
    record.outputs[0].path = "/etc/passwd";
  }
  SECTION("a stage that leads out") {
    record.outputs[0].stage = "..";
  }
  SECTION("a stage") {
    record.stages[0].name = "../x";
  }
  REQUIRE(files.write_record(record));
  const base::Error error = test::error_of([&] { static_cast<void>(files.read_record()); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK(test::contains(error.what(), "is not in the run's folder"));
}

TEST_CASE("run files: each event of a run leaves a note of its own") {
  const test::TempHome home;
  home::announce(home / "tiny-1", home::RunEvent::planned);
  home::announce(home / "tiny-1", home::RunEvent::finished);
  home::announce(home / "tiny-1", home::RunEvent::finished);
  std::set<std::string> notes;
  for (const auto& entry : fs::directory_iterator(home / ".inbox"))
    notes.insert(entry.path().filename().string());
  CHECK(notes == std::set<std::string>{"tiny-1.planned", "tiny-1.finished"});
}

TEST_CASE("run files: a process is gone when it ended, or was of another boot, on this node") {
  spec::RunStatus status;
  home::stamp_process(status);
  CHECK(status.pid == ::getpid());
  CHECK(!home::is_provably_gone(status));
  auto process = base::ProcessIdentity::current();
  SECTION("a reused pid") {
    ++process.start_ticks;
    status.process = process.text();
    CHECK(home::is_provably_gone(status));
  }
  SECTION("another boot") {
    process.boot = "another";
    status.process = process.text();
    CHECK(home::is_provably_gone(status));
  }
  SECTION("another node knows nothing") {
    process.boot = "another";
    process.host = "another";
    status.process = process.text();
    CHECK(!home::is_provably_gone(status));
  }
  SECTION("nobody was there") {
    status.process.clear();
    CHECK(!home::is_provably_gone(status));
  }
}

TEST_CASE("run files: a process that was killed is provably gone") {
  const int pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  spec::RunStatus status;
  home::stamp_process(status);
  status.process = base::ProcessIdentity::of(pid).text();
  CHECK(!home::is_provably_gone(status));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  CHECK(home::is_provably_gone(status));
}

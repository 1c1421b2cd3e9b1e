#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/home/run_trash.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using home::RunEvent;
using home::RunFiles;
using spec::RunState;
using test::contains;
namespace fs = std::filesystem;

namespace {

/// Run directories, their inbox and a catalog.
class Site {
 public:
  /// A run that was planned: `state` and what its process is as its status says.
  void plan(const std::string& id, const spec::RunStatus& status) {
    spec::RunPlan plan = test::full_plan();
    plan.run_id = id;
    if (!created.empty()) plan.created = created;
    plan.batch.reset();
    fs::create_directories(runs() / id);
    planning::write_plan(files(id).plan(), plan);
    files(id).write_status(status);
    home::announce(runs() / id, RunEvent::planned);
  }
  void finish(const std::string& id) {
    spec::RunRecord record = test::full_record();
    record.run_id = id;
    if (!created.empty()) record.created = created;
    base::write_file_atomically(files(id).record(), home::record_text(record));
    spec::RunStatus status;
    status.state = RunState::ok;
    files(id).write_status(status);
    home::announce(runs() / id, RunEvent::finished);
  }
  void index() { app::index_inbox(catalog, runs(), clock, observer); }
  app::ReindexReport reindex(std::stop_token stop = {}) {
    return app::reindex(catalog, runs(), clock, observer, stop);
  }
  RunState state_of(const std::string& id) const { return catalog.select(id, {}).front().state; }
  std::size_t notes() const {
    std::error_code code;
    const fs::directory_iterator inbox(runs() / ".inbox", code);
    return code ? 0 : static_cast<std::size_t>(std::distance(begin(inbox), end(inbox)));
  }
  RunFiles files(const std::string& id) const { return RunFiles(runs() / id); }
  fs::path runs() const { return home_ / "runs"; }
  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }

 private:
  test::TempHome home_;

 public:
  catalog::Catalog catalog{home_ / "catalog.db"};
  test::FakeClock clock{};
  test::RecordingObserver observer{};
  std::string created{};  ///< of the runs that come; empty: that of all test documents
};

spec::RunStatus alive(RunState state = RunState::running) {
  spec::RunStatus status;
  home::stamp_process(status);
  status.state = state;
  return status;
}

spec::RunStatus gone(const std::string& stage = "train") {
  spec::RunStatus status = alive();
  auto process = base::ProcessIdentity::current();
  process.boot = "another boot";
  status.process = process.text();
  status.stage = stage;
  return status;
}

/// Runs that are made one by one with a clock that is set ahead and back.
class SetClock : public Site {
 public:
  /// Makes a run as `sabath run` does, which reads the inbox at its end.
  void make(const std::string& id) {
    written(id);
    index();
  }
  void written(const std::string& id) {
    clock.move(std::chrono::seconds(1));
    created = base::format_rfc3339(clock.now());
    plan(id, alive());
    clock.move(std::chrono::seconds(1));
    finish(id);
  }
  std::vector<std::string> order() const {
    std::vector<std::string> ids;
    for (const catalog::RunRow& row : catalog.select("tag=*", {}))
      ids.push_back(row.id);
    return ids;
  }
  std::string at(const std::string& selection) const {
    return catalog.select(selection, clock.now()).front().id;
  }
};

const std::string one = "tiny-20261120-103201-abcdefgh";
const std::string two = "tiny-20261120-103202-abcdefgh";
// Their order by name is none of time.
const std::string before = "tiny-20261120-103201-ddddefgh";
const std::string ahead = "tiny-20261120-103201-zzzzefgh";
const std::string after = "tiny-20261120-103201-ccccefgh";
const std::string last = "tiny-20261120-103201-bbbbefgh";
constexpr auto day = std::chrono::hours(24);

}  // namespace

TEST_CASE("index: notes of the inbox bring plans and records into the catalog, once") {
  Site site;
  site.plan(one, alive(RunState::planned));
  site.plan(two, alive());
  site.finish(two);
  CHECK(site.notes() == 3);
  site.index();
  CHECK(site.notes() == 0);
  CHECK(site.catalog.stats().runs == 2);
  CHECK(site.state_of(one) == RunState::planned);
  CHECK(site.state_of(two) == RunState::ok);
  CHECK(site.catalog.runs().front().directory == (site.runs() / two).string());
  CHECK(site.observer.warnings.empty());
}

TEST_CASE("index: a run that finished after its plan was indexed becomes its record") {
  Site site;
  site.plan(one, alive());
  site.index();
  CHECK(site.state_of(one) == RunState::running);
  site.finish(one);
  site.index();
  CHECK(site.state_of(one) == RunState::ok);
  CHECK(site.catalog.stats().metrics == 1);
}

TEST_CASE("index: a note of planning that comes late does not undo the record") {
  Site site;
  site.plan(one, alive());
  site.finish(one);
  fs::remove(site.runs() / ".inbox" / (one + ".planned"));
  site.index();
  home::announce(site.runs() / one, RunEvent::planned);
  site.index();
  CHECK(site.state_of(one) == RunState::ok);
}

TEST_CASE(
    "index: a run whose process is gone is closed as lost, in the catalog and in its status") {
  Site site;
  const auto [status, why] = GENERATE(
      table<spec::RunStatus, std::string>({{gone(), "it was ended during stage train"},
                                           {gone(""), "it was ended before its first stage"}}));
  site.plan(one, status);
  site.index();
  CHECK(site.state_of(one) == RunState::lost);
  CHECK(site.files(one).read_status().state == RunState::lost);
  CHECK(site.files(one).read_status().message == why);
  CHECK(site.files(one).read_status().updated == base::format_rfc3339(site.clock.now()));
}

TEST_CASE("index: a run that goes on, or that runs on another node, is not lost") {
  Site site;
  site.plan(one, alive());
  spec::RunStatus elsewhere = gone();
  auto process = base::ProcessIdentity::current();
  process.host = "another host";
  process.boot = "another boot";
  elsewhere.process = process.text();
  site.plan(two, elsewhere);
  site.index();
  site.index();
  CHECK(site.state_of(one) == RunState::running);
  CHECK(site.state_of(two) == RunState::running);
}

TEST_CASE("index: a run that was lost and then finished after all is what its record says") {
  Site site;
  site.plan(one, gone());
  site.index();
  site.finish(one);
  site.index();
  CHECK(site.state_of(one) == RunState::ok);
}

TEST_CASE("index: a record without a note is found when its run is looked at again") {
  Site site;
  site.plan(one, alive());
  site.index();
  site.finish(one);
  fs::remove(site.runs() / ".inbox" / (one + ".finished"));
  site.index();
  CHECK(site.state_of(one) == RunState::ok);
}

TEST_CASE("index: a run that cannot be read is told, stays in the inbox and disturbs no other") {
  Site site;
  site.plan(one, alive());
  site.plan(two, alive());
  Site::write(site.files(one).plan(), "{");
  site.index();
  CHECK(site.catalog.stats().runs == 1);
  CHECK(site.notes() == 1);
  REQUIRE(site.observer.warnings.size() == 1);
  CHECK(contains(site.observer.warnings.front(), one));
  site.plan(one, alive());
  site.index();
  CHECK(site.catalog.stats().runs == 2);
  CHECK(site.notes() == 0);
}

TEST_CASE("index: a pipe in place of a record is told and never waited for") {
  Site site;
  site.plan(one, alive());
  site.plan(two, alive());
  REQUIRE(::mkfifo(site.files(one).record().c_str(), 0600) == 0);
  site.index();
  CHECK(site.catalog.stats().runs == 1);
  REQUIRE(site.observer.warnings.size() == 1);
  CHECK(contains(site.observer.warnings.front(), "is a pipe, not a file"));
}

TEST_CASE(
    "index: a catalog for which there is no space is an error of storage, and runs stay noted") {
  const int status = test::status_in_child([] {
    Site site;
    site.plan(one, alive());
    site.plan(two, alive());
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit nothing{0, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &nothing);
    try {
      site.index();
    } catch (const base::Error& error) {
      return error.kind() == base::ErrorKind::storage && site.notes() == 2 ? 7 : 1;
    }
    return 0;
  });
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("index: notes of runs that are gone, and files that are no notes, disturb nothing") {
  Site site;
  home::announce(site.runs() / one, RunEvent::finished);
  Site::write(site.runs() / ".inbox" / "README", "x");
  site.index();
  CHECK(site.notes() == 1);
  CHECK(site.catalog.stats().runs == 0);
  CHECK(site.observer.warnings.empty());
}

TEST_CASE("reindex: the catalog is made again from the run directories alone") {
  Site site;
  site.plan(one, alive());
  site.plan(two, alive());
  site.finish(two);
  site.catalog.put_plan(
      [] {
        spec::RunPlan plan = test::full_plan();
        plan.run_id = "stale-20261120-103205-abcdefgh";
        return plan;
      }(),
      "/nowhere");
  fs::create_directory(site.runs() / "notes");
  fs::remove_all(site.runs() / ".inbox");
  const app::ReindexReport report = site.reindex();
  CHECK(report.indexed == 2);
  CHECK(report.unreadable == 0);
  CHECK(site.catalog.stats().runs == 2);
  CHECK(site.state_of(two) == RunState::ok);
  REQUIRE(!site.observer.progresses.empty());
  CHECK(site.observer.progresses.back().finished);
}

TEST_CASE("reindex: the batch of a run that has its record is found again") {
  Site site;
  const std::string id = "tiny-20261122-070000-aaaaaaaa";
  site.plan(id, {});
  spec::RunPlan plan = test::full_plan();
  plan.run_id = id;
  plan.batch = "jobs/1";
  planning::write_plan(site.files(id).plan(), plan);
  site.finish(id);
  fs::create_directories(site.runs() / id / "jobs/1");
  site.reindex();
  CHECK(site.catalog.runs().front().state == RunState::ok);
  CHECK(site.catalog.runs().front().batch == (site.runs() / id / "jobs/1").string());
}

TEST_CASE("reindex: a run that cannot be read is counted and told") {
  Site site;
  site.plan(one, alive());
  site.plan(two, alive());
  Site::write(site.files(one).record(), "{");
  fs::remove_all(site.runs() / ".inbox");
  const app::ReindexReport report = site.reindex();
  CHECK(report.indexed == 1);
  CHECK(report.unreadable == 1);
  REQUIRE(site.observer.warnings.size() == 1);
  CHECK(contains(site.observer.warnings.front(), one));
}

TEST_CASE("reindex: a folder whose planning is not over, or was cut off, is no run yet") {
  Site site;
  fs::create_directories(site.runs() / one);
  site.plan(two, alive());
  fs::remove(site.files(two).status());
  fs::remove_all(site.runs() / ".inbox");
  const app::ReindexReport report = site.reindex();
  CHECK(report.indexed == 0);
  CHECK(report.unreadable == 0);
  CHECK(site.observer.warnings.empty());
}

TEST_CASE("reindex: when it is stopped the catalog is as it was") {
  Site site;
  site.plan(one, alive());
  site.index();
  std::stop_source stop;
  stop.request_stop();
  const base::Error error = test::error_of([&] { site.reindex(stop.get_token()); });
  CHECK(error.kind() == base::ErrorKind::interrupted);
  CHECK(site.catalog.stats().runs == 1);
}

TEST_CASE("catalog: one that was removed or damaged comes back by itself with all runs") {
  Site site;
  const fs::path file = site.runs().parent_path() / "other.db";
  const auto open = [&] { return app::open_catalog(file, site.runs(), site.clock, site.observer); };
  for (const std::string& id : {one, two}) {
    site.plan(id, alive());
    site.finish(id);
  }
  CHECK(open()->stats().runs == 2);
  CHECK(site.notes() == 0);  // nothing else names these runs any more
  REQUIRE(site.observer.warnings.empty());
  const auto size = fs::file_size(file);
  const std::string how = GENERATE("removed", "truncated", "no database", "overwritten");
  if (how == "removed") fs::remove(file);
  if (how == "truncated") fs::resize_file(file, size / 3);
  if (how == "no database") Site::write(file, std::string(size, 'x'));
  if (how == "overwritten") {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(4096);
    stream << std::string(size - 4096, 'x');
  }
  INFO(how);
  const std::string three = "tiny-20261120-103203-abcdefgh";
  site.plan(three, alive());
  CHECK(open()->stats().runs == 3);
  CHECK(open()->select(two, {}).front().state == RunState::ok);
  CHECK(open()->select(three, {}).front().state == RunState::running);
  CHECK(site.observer.warnings.size() == (how == "removed" ? 0 : 1));
  CHECK(fs::exists(file.string() + ".damaged") == (how != "removed"));
}

TEST_CASE("catalog: 500 runs that end at the same time are all in it, once, and no lock is lost",
          "[long]") {
  Site site;
  constexpr int count = 500;
  const fs::path file = site.runs().parent_path() / "other.db";
  std::array<int, 2> gate{};
  REQUIRE(::pipe2(gate.data(), O_CLOEXEC) == 0);
  std::vector<pid_t> processes;
  for (int n = 0; n < count; ++n) {
    const std::string id = "tiny-20261120-10" + std::to_string(1000 + n) + "-abcdefgh";
    site.plan(id, alive());
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      ::close(gate[1]);
      char nothing = 0;
      while (::read(gate[0], &nothing, 1) > 0) {
      }  // until all are there
      try {
        site.finish(id);
        app::open_catalog(file, site.runs(), site.clock, site.observer);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", id.c_str(), error.what());
        ::_exit(1);
      }
      for (const std::string& warning : site.observer.warnings)
        std::fprintf(stderr, "%s: %s\n", id.c_str(), warning.c_str());
      ::_exit(site.observer.warnings.empty() ? 0 : 2);
    }
    processes.push_back(pid);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  int failures = 0;
  for (const pid_t pid : processes) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    failures += status == 0 ? 0 : 1;
  }
  CHECK(failures == 0);
  const auto rows = app::open_catalog(file, site.runs(), site.clock, site.observer)->runs();
  CHECK(rows.size() == count);
  CHECK(std::all_of(
      rows.begin(), rows.end(), [](const auto& row) { return row.state == RunState::ok; }));
  CHECK(site.notes() == 0);
}

TEST_CASE("index: documents that are gone are forgotten, wrong ones are told") {
  Site site;
  const test::TempHome shelf;
  const auto put = [&](const std::string& name, const std::string& text) {
    fs::create_directories(shelf / name);
    Site::write(shelf / name / "recipe.json", text);
  };
  put("tiny", R"({"schema": 1, "name": "tiny", "stages": [{"name": "one", "run": ["true"]}]})");
  put("wrong", "{");
  const home::Documents documents({}, {shelf.path()});
  app::index_documents(site.catalog, documents, site.observer);
  REQUIRE(site.catalog.stats().documents == 1);
  CHECK(site.catalog.search("tiny").front().name == "tiny");
  REQUIRE(site.observer.warnings.size() == 1);
  CHECK(contains(site.observer.warnings.front(), "wrong/recipe.json"));
  fs::remove_all(shelf / "tiny");
  app::index_documents(site.catalog, documents, site.observer);
  CHECK(site.catalog.stats().documents == 0);
}

TEST_CASE("index: a run made while the clock was ahead stands where it came") {
  SetClock site;
  site.make(before);
  site.clock.move(day);
  site.make(ahead);
  CHECK(site.at("@last") == ahead);
  site.clock.move(-day);
  site.index();
  CHECK(site.at("@last") == ahead);  // nothing came after it yet
  const bool is_read_late = GENERATE(false, true);
  is_read_late ? site.written(after) : site.make(after);
  site.make(last);
  const std::vector<std::string> order{before, ahead, after, last};
  CHECK(site.order() == order);
  CHECK(site.at("@last") == last);
  CHECK(site.at("@last~2") == ahead);
  CHECK(site.catalog.select(before + ".." + after, {}).size() == 3);
  CHECK(site.catalog.runs(2).back().id == after);
  CHECK(site.catalog.runs().at(2).created > site.catalog.runs().front().created);
  // Neither its record, which comes again, nor the time that it says changes that.
  site.clock.move(2 * day);
  home::announce(site.runs() / ahead, RunEvent::finished);
  site.index();
  CHECK(site.order() == order);
}

TEST_CASE("index: a clock that is set back loses neither order nor @last") {
  SetClock site;
  site.make(before);
  site.make(ahead);
  site.clock.move(-day);
  site.make(after);
  CHECK(site.at("@last") == after);
  site.clock.move(day);
  site.make(last);
  CHECK(site.order() == std::vector<std::string>{before, ahead, after, last});
}

TEST_CASE("reindex: a run from the future stands first: nothing says when it was made") {
  SetClock site;
  site.make(before);
  site.clock.move(day);
  site.make(ahead);
  site.clock.move(-day);
  site.make(after);
  site.reindex();
  CHECK(site.order() == std::vector<std::string>{ahead, before, after});
  site.make(last);
  CHECK(site.at("@last") == last);
}

TEST_CASE("index runs: what was said is indexed, and archived and removed runs are followed") {
  Site site;
  const std::string id = "tiny-20261120-103201-abcdefgh";
  fs::create_directories(site.runs() / id);
  site.finish(id);
  site.index();
  home::add_statement(site.runs() / id, home::RunStatement::Kind::tag, "good", "2026-11-27");
  home::announce(site.runs() / id, RunEvent::finished);
  site.index();
  CHECK(site.catalog.select("tag=good", {}).size() == 1);
  home::Folders folders;
  folders.home = site.runs().parent_path();
  home::archive_run(folders, id, site.clock, site.observer, {});
  site.index();
  CHECK(site.catalog.select("tag=good", {}).front().directory == (folders.archive() / id).string());
  site.reindex();
  CHECK(site.catalog.select("tag=good", {}).front().directory == (folders.archive() / id).string());
  const home::Removal removal = home::move_to_trash(folders, {id}, site.clock, site.observer);
  site.index();
  CHECK(site.catalog.runs().empty());
  CHECK(site.notes() == 0);
  home::bring_back(folders, removal, {id}, site.observer);
  site.index();
  CHECK(site.catalog.select("tag=good", {}).size() == 1);
  base::write_file_atomically(folders.archive() / id / "said/2.json", "{");
  site.reindex();
  CHECK(site.catalog.select("tag=good", {}).size() == 1);
  CHECK(std::ranges::any_of(site.observer.warnings,
                            [](const auto& text) { return contains(text, "said/2.json"); }));
}

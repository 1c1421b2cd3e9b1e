#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using spec::RunState;
namespace fs = std::filesystem;

namespace {

/// A home with one run whose process is gone.
struct Home {
  Home() {
    spec::RunPlan plan = test::full_plan();
    plan.run_id = id;
    plan.batch.reset();
    fs::create_directories(files().directory());
    planning::write_plan(files().plan(), plan);
    spec::RunStatus status;
    status.state = RunState::running;
    auto process = base::ProcessIdentity::current();
    process.boot = "another boot";
    status.process = process.text();
    files().write_status(status);
    home::announce(files().directory(), home::RunEvent::planned);
  }
  std::unique_ptr<catalog::Catalog> open(app::InboxReader& reader) {
    const auto update = [&](catalog::Catalog& catalog) { reader.read(catalog, clock, observer); };
    return app::open_catalog(home / "catalog.db", home / "runs", clock, observer, {}, update);
  }
  home::RunFiles files() const { return home::RunFiles(home / "runs" / id); }
  void finish() const {
    spec::RunRecord record = test::full_record();
    record.run_id = id;
    record.state = RunState::ok;
    files().write_record(record);
    home::announce(files().directory(), home::RunEvent::finished);
  }
  std::size_t notes() const {
    const fs::directory_iterator inbox(home / "runs/.inbox");
    return static_cast<std::size_t>(std::distance(begin(inbox), end(inbox)));
  }

  const std::string id = "tiny-20261120-103201-abcdefgh";
  test::TempHome home{};
  test::FakeClock clock{};
  test::RecordingObserver observer{};
};

}  // namespace

TEST_CASE("inbox reader: takes in what is new, leaves the notes, and closes no run") {
  Home home;
  app::InboxReader reader(home.home / "runs");
  const auto catalog = home.open(reader);
  CHECK(catalog->select(home.id, {}).front().state == RunState::running);
  CHECK(home.notes() == 1);
  CHECK(home.files().read_status().state == RunState::running);
  home.finish();
  reader.read(*catalog, home.clock, home.observer);
  CHECK(catalog->select(home.id, {}).front().state == RunState::ok);
  CHECK(home.notes() == 2);
  // The next command has the news all the same.
  std::vector<fs::path> news;
  app::index_inbox(
      *catalog, home.home / "runs", home.clock, home.observer, [&](const fs::path& run) {
        news.push_back(run);
      });
  CHECK(news == std::vector<fs::path>{home.files().directory()});
  CHECK(home.notes() == 0);
  reader.read(*catalog, home.clock, home.observer);
  CHECK(home.observer.warnings.empty());
}

TEST_CASE("inbox reader: a note that was read is not read again, a new one of that name is") {
  Home home;
  app::InboxReader reader(home.home / "runs");
  const auto catalog = home.open(reader);
  catalog->put_state(home.id, RunState::planned, "");
  reader.read(*catalog, home.clock, home.observer);
  CHECK(catalog->select(home.id, {}).front().state == RunState::planned);
  home::announce(home.files().directory(), home::RunEvent::planned);
  reader.read(*catalog, home.clock, home.observer);
  CHECK(catalog->select(home.id, {}).front().state == RunState::running);
}

// Runs in the trash: moved there and back, killed on the way, in a trash that cannot be trusted.
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/base/file.hpp>
#include <sabath/home/baseline_uses.hpp>
#include <sabath/home/run_trash.hpp>

#include <chrono>
#include <thread>

using namespace sabath;
using test::contains;
using test::error_of;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::string id_of(int n) {
  return "tiny-20261120-1" + std::to_string(10000 + n) + "-abcdefgh";
}

class Home {
 public:
  Home() { folders.home = home_ / "home"; }
  void add(const std::string& id, const std::string& place = "runs") const {
    base::make_directories(folders.home / place / id);
    base::write_file_atomically(folders.home / place / id / "record.json", "the record of " + id);
  }
  home::Removal remove(const std::vector<std::string>& ids) {
    return home::move_to_trash(folders, ids, clock, observer);
  }
  bool is_there(const std::string& id) const { return fs::exists(folders.run(id) / "record.json"); }

 private:
  test::TempHome home_{};

 public:
  home::Folders folders{};
  test::FakeClock clock{};
  test::RecordingObserver observer{};
};

}  // namespace

TEST_CASE("run trash: runs and archived runs go and come back to where they were") {
  Home home;
  home.add(id_of(1));
  home.add(id_of(2), "archive");
  home.add(id_of(3));
  CHECK(home::removals(home.folders).empty());
  const home::Removal first = home.remove({id_of(1), id_of(2)});
  CHECK(first.runs == std::vector{id_of(1), id_of(2)});
  home.clock.sleep_for(1s);
  const home::Removal second = home.remove({id_of(3)});
  CHECK_FALSE(home.is_there(id_of(1)));
  const auto all = home::removals(home.folders);
  REQUIRE(all.size() == 2);
  CHECK(all.back().name == second.name);
  CHECK(fs::exists(home.folders.runs() / ".inbox" / (id_of(1) + ".finished")));

  const auto found = home::find_trashed(home.folders, id_of(2));
  REQUIRE(found);
  CHECK(found->first.name == first.name);
  CHECK_FALSE(home::find_trashed(home.folders, "tiny-2026"));  // several
  CHECK_FALSE(home::find_trashed(home.folders, ""));
  home::bring_back(home.folders, first, {id_of(2)}, home.observer);
  CHECK(home.folders.run(id_of(2)).parent_path() == home.folders.archive());
  CHECK(home::removals(home.folders).front().runs == std::vector{id_of(1)});
  home::bring_back(home.folders, first, {id_of(1)}, home.observer);
  CHECK(base::read_file(home.folders.runs() / id_of(1) / "record.json") ==
        "the record of " + id_of(1));
  CHECK(home::removals(home.folders).size() == 1);
  CHECK_FALSE(fs::exists(first.folder));
}

TEST_CASE("run trash: runs come back although the facts of their removal are damaged") {
  Home home;
  home.add(id_of(1));
  const home::Removal removal = home.remove({id_of(1)});
  fs::remove(removal.folder / "removal.json");
  base::write_file_atomically(removal.folder / "removal.json", "{");
  const auto all = home::removals(home.folders);
  REQUIRE(all.size() == 1);
  CHECK(all.front().by == "unknown");
  CHECK(
      home::clear_trash(home.folders, home.clock.now() + 999 * 24h, false, home.observer).empty());
  home::bring_back(home.folders, all.front(), all.front().runs, home.observer);
  CHECK(home.is_there(id_of(1)));
}

TEST_CASE("run trash: a run of that id that is there again stays") {
  Home home;
  home.add(id_of(1));
  const home::Removal removal = home.remove({id_of(1)});
  home.add(id_of(1));
  base::write_file_atomically(home.folders.runs() / id_of(1) / "record.json", "another");
  const base::Error error =
      error_of([&] { home::bring_back(home.folders, removal, {id_of(1)}, home.observer); });
  CHECK(error.kind() == base::ErrorKind::storage);
  CHECK(contains(error.what(), "exists already"));
  CHECK(base::read_file(home.folders.runs() / id_of(1) / "record.json") == "another");
  CHECK(home::removals(home.folders).front().runs.size() == 1);
}

TEST_CASE("run trash: a removal that another process fills is kept") {
  Home home;
  home.add(id_of(1));
  home.add(id_of(2));
  const home::Removal removal = home.remove({id_of(1)});
  // It moves the next run there at the moment when the first one comes back.
  class Filling : public base::Observer {
   public:
    Filling(fs::path from, fs::path to) : from_(std::move(from)), to_(std::move(to)) {}
    void note(std::string_view) override {}
    void warn(std::string_view, std::string_view) override {}
    void progress(const base::Progress& progress) override {
      if (progress.finished) fs::rename(from_, to_);
    }

   private:
    fs::path from_;
    fs::path to_;
  };
  Filling filling(home.folders.runs() / id_of(2), removal.folder / "runs" / id_of(2));
  CHECK(home::bring_back(home.folders, removal, {id_of(1)}, filling) == std::vector{id_of(1)});
  const auto all = home::removals(home.folders);
  REQUIRE(all.size() == 1);
  CHECK(all.front().runs == std::vector{id_of(2)});
  CHECK(all.front().by != "unknown");
  home::bring_back(home.folders, all.front(), all.front().runs, home.observer);
  CHECK(home.is_there(id_of(2)));
  CHECK_FALSE(fs::exists(removal.folder));
}

TEST_CASE("run trash: a removal that cannot be read is an error, not an empty one") {
  Home home;
  home.add(id_of(1));
  const home::Removal removal = home.remove({id_of(1)});
  fs::rename(removal.folder / "runs", removal.folder / "real");
  base::write_file_atomically(removal.folder / "runs", "not a folder");
  CHECK(error_of([&] { static_cast<void>(home::removals(home.folders)); }).kind() ==
        base::ErrorKind::storage);
  CHECK(fs::exists(removal.folder / "real" / id_of(1)));
}

TEST_CASE("run trash: runs that are gone leave no removal, and the answer has those that moved") {
  Home home;
  home.add(id_of(1));
  CHECK(home.remove({id_of(2)}).runs.empty());
  CHECK(home::removals(home.folders).empty());
  const home::Removal removal = home.remove({id_of(1), id_of(2)});
  CHECK(removal.runs == std::vector{id_of(1)});
  CHECK(home::bring_back(home.folders, removal, {id_of(1), id_of(2)}, home.observer) ==
        std::vector{id_of(1)});
  CHECK(home::bring_back(home.folders, removal, {id_of(1)}, home.observer).empty());
}

TEST_CASE("run trash: a move that fails half-way is announced and says what was moved") {
  Home home;
  home.add(id_of(1));
  home.add(id_of(2));
  const home::Removal removal = home.remove({id_of(1), id_of(2)});
  home.add(id_of(2));
  fs::remove_all(home.folders.runs() / ".inbox");
  const base::Error error = error_of([&] {
    home::bring_back(home.folders, removal, {id_of(1), id_of(2)}, home.observer);
  });
  CHECK(contains(error.what(), "exists already"));
  CHECK(contains(error.what(), "moved before that: " + id_of(1)));
  CHECK(home.is_there(id_of(1)));
  CHECK(fs::exists(home.folders.runs() / ".inbox" / (id_of(1) + ".finished")));
}

TEST_CASE("run trash: removals are sorted by time, and one without facts is not forgotten") {
  Home home;
  home.add(id_of(1));
  home.add(id_of(2));
  const home::Removal first = home.remove({id_of(1)});
  home.clock.sleep_for(1s);
  const home::Removal second = home.remove({id_of(2)});
  fs::remove(first.folder / "removal.json");
  auto all = home::removals(home.folders);
  REQUIRE(all.size() == 2);
  CHECK(all.front().name == first.name);
  CHECK(all.front().at == "unknown");
  CHECK(all.front().runs == std::vector{id_of(1)});
  home::bring_back(home.folders, all.front(), {id_of(1)}, home.observer);
  CHECK(home.is_there(id_of(1)));
  // What a killed removal leaves is cleared when it is old.
  base::make_directories(home.folders.trash() / "rm-20200101-000000-abcdef");
  CHECK(home::clear_trash(home.folders, home.clock.now(), false, home.observer).size() == 1);
  all = home::removals(home.folders);
  REQUIRE(all.size() == 1);
  CHECK(all.front().name == second.name);
}

TEST_CASE("run trash: what a killed clearing left is cleared by the next one") {
  Home home;
  home.add(id_of(1));
  const home::Removal removal = home.remove({id_of(1)});
  const fs::path gone = home.folders.trash() / (".gone-" + removal.name);
  fs::rename(removal.folder, gone);
  CHECK(home::removals(home.folders).empty());
  home::clear_trash(home.folders, home.clock.now(), true, home.observer);
  CHECK(fs::exists(gone));
  home::clear_trash(home.folders, home.clock.now(), false, home.observer);
  CHECK_FALSE(fs::exists(gone));
}

TEST_CASE("run trash: a trash that others can write to, or that was replaced, is not used") {
  Home home;
  home.add(id_of(1));
  home.add(id_of(2));
  const home::Removal removal = home.remove({id_of(1)});
  const auto refused = [&](const std::string& part) {
    for (const base::Error& error :
         {error_of([&] { home.remove({id_of(2)}); }),
          error_of([&] { static_cast<void>(home::removals(home.folders)); }),
          error_of([&] { home::bring_back(home.folders, removal, {id_of(1)}, home.observer); }),
          error_of([&] {
            home::clear_trash(home.folders, home.clock.now() + 99 * 24h, false, home.observer);
          })}) {
      CHECK(error.kind() == base::ErrorKind::storage);
      CHECK(contains(error.what(), home.folders.trash().string()));
      CHECK(contains(error.what(), part));
    }
    CHECK(home.is_there(id_of(2)));
  };
  fs::permissions(home.folders.trash(), fs::perms(0777));
  refused("others can write to it");
  fs::permissions(home.folders.trash(), fs::perms(0700));
  const fs::path elsewhere = home.folders.home / "elsewhere";
  fs::rename(home.folders.trash(), elsewhere);
  fs::create_symlink(elsewhere, home.folders.trash());
  refused("replaced by a link");
  CHECK(fs::exists(elsewhere / removal.name / "runs" / id_of(1)));
  fs::remove(home.folders.trash());
  // It was moved away: nothing is there, and the next removal makes a new one.
  CHECK(home::removals(home.folders).empty());
  home.remove({id_of(2)});
  CHECK(home::removals(home.folders).size() == 1);
}

TEST_CASE("run trash: what is older than 30 days is cleared, and only that") {
  Home home;
  home.add(id_of(1));
  home.add(id_of(2));
  const home::Removal old = home.remove({id_of(1)});
  home.clock.sleep_for(29 * 24h);
  home.remove({id_of(2)});
  CHECK(home::clear_trash(home.folders, home.clock.now(), false, home.observer).empty());
  home.clock.sleep_for(2 * 24h);
  const auto would = home::clear_trash(home.folders, home.clock.now(), true, home.observer);
  REQUIRE(would.size() == 1);
  CHECK(would.front().removal.runs == std::vector{id_of(1)});
  CHECK(would.front().use.freed_bytes > 0);
  CHECK(fs::exists(old.folder));
  CHECK(home::clear_trash(home.folders, home.clock.now(), false, home.observer).size() == 1);
  CHECK_FALSE(fs::exists(old.folder));
  CHECK(home::removals(home.folders).size() == 1);
}

TEST_CASE("run trash: after a kill each run is where it was or in the trash, and all come back") {
  Home home;
  constexpr int count = 200;
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) {
    ids.push_back(id_of(i));
    home.add(ids.back());
  }
  for (int round = 0; round < 8; ++round) {
    test::Child remover([&]() -> std::string {
      home.remove(ids);
      std::this_thread::sleep_for(10s);
      return "";
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 6 * round));
    remover.kill();
    remover.wait();
    for (const home::Removal& removal : home::removals(home.folders))
      home::bring_back(home.folders, removal, removal.runs, home.observer);
    int there = 0;
    for (const std::string& id : ids)
      there += home.is_there(id) ? 1 : 0;
    REQUIRE(there == count);
  }
}

TEST_CASE("run trash: space that is shared with a cache is not freed") {
  Home home;
  home.add(id_of(1));
  const fs::path run = home.folders.runs() / id_of(1);
  base::write_file_atomically(run / "own.bin", std::string(1U << 20U, 'a'));
  base::write_file_atomically(home.folders.home / "object", std::string(2U << 20U, 'b'));
  fs::create_hard_link(home.folders.home / "object", run / "shared.bin");
  fs::create_hard_link(run / "own.bin", run / "again.bin");
  const base::DiskUse use = base::disk_use_of({run});
  CHECK(use.files == 3);  // the record, and two files of which one has two names
  CHECK(use.disk_bytes >= 3U << 20U);
  CHECK(use.freed_bytes >= 1U << 20U);
  CHECK(use.freed_bytes < 2U << 20U);
}

TEST_CASE("baseline uses: the last state of each baseline says which runs it names") {
  const test::TempHome home;
  CHECK(home::runs_of_baselines(home.path()).empty());
  spec::Baseline baseline;
  baseline.recipe = "tiny";
  baseline.entries.emplace_back().runs.push_back({id_of(1), "node", "2026-11-20", 1});
  const fs::path file = home / "base.json";
  home::remember_baseline(home.path(), file, baseline, "2026-11-27");
  home::remember_baseline(home.path(), file, baseline, "2026-11-28");
  const std::string once = base::read_file(home / "baselines.jsonl");
  CHECK(std::count(once.begin(), once.end(), '\n') == 1);
  CHECK(home::runs_of_baselines(home.path()).at(id_of(1)) == std::vector{file.string()});
  baseline.entries.front().runs.front().run_id = id_of(2);
  home::remember_baseline(home.path(), file, baseline, "2026-11-29");
  base::append_lines(home / "baselines.jsonl", "{\"damaged\n");
  home::remember_baseline(home.path(), home / "other.json", baseline, "2026-11-29");
  const auto named = home::runs_of_baselines(home.path());
  CHECK_FALSE(named.contains(id_of(1)));
  CHECK(named.at(id_of(2)).size() == 2);
}

// A member of the group moves a folder of the victim's, which the group may write to, into the
// place of a folder of the cache. What is in it is the victim's alone, and gets a name that sabath
// would remove.
#include "shared_cache.hpp"
#include "support/second_user.hpp"

#include <sabath/base/own_tree.hpp>
#include <sabath/env/environment.hpp>

#include <cache/layout.hpp>
#include <cache/trees/tree_store.hpp>
#include <env/store/key_folder.hpp>
#include <env/store/request_folder.hpp>

#include <functional>

using namespace sabath;
using test::Child;
using test::put;
using test::SharedCache;

namespace fs = std::filesystem;
using std::chrono::hours;

namespace {

const std::string key_name(32, 'a');

/// What the victim does with its cache.
struct Victim {
  fs::path root{};
  fs::path state{};
  base::SystemClock clock{};
  base::SystemProcessRunner processes{};
  base::SilentObserver observer{};

  cache::Layout layout() const { return cache::Layout(root); }
  cache::Cache open() { return {root, state, clock, {{}, true}}; }
  cache::GarbageReport collect(bool dry_run = false) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // beyond the kernel's clock step
    return cache::CacheMaintenance(root, state, clock)
        .collect({{}, {}, std::chrono::seconds(0), dry_run}, observer);
  }
  env::KeyFolder key() const { return env::KeyFolder(root / "envs/source" / key_name); }
  /// As `env gc` does.
  void collect_environments() {
    env::EnvironmentStore store(root / "envs", processes, clock, {.state_directory = state});
    for (const fs::path& left : store.leftovers())
      base::remove_own_tree(left);
    key().remove_remains(clock.now() + hours(100), hours(1));
  }
  env::AttemptFolder failed_attempt() const {
    const env::AttemptFolder attempt = key().begin();
    env::AttemptRecord record;
    record.state = "failed";
    record.started = "2020-01-01T00:00:00Z";
    record.builder = base::ProcessIdentity::current();
    env::write_attempt_record(attempt.record(), record);
    return attempt;
  }
};

std::uint64_t left_alone(const cache::GarbageReport& report) {
  std::uint64_t count = 0;
  for (const auto& [reason, sum] : report.kept) {
    if (reason.find(base::made_mark) != std::string::npos) count += sum.count;
  }
  return count;
}

std::set<std::string> removed_kinds(const cache::GarbageReport& report) {
  std::set<std::string> kinds;
  for (const cache::RemovedItem& item : report.removed)
    kinds.insert(item.kind);
  return kinds;
}

/// A cache of the victim's that a group may write to, and `open/pool` outside of it.
class Moved {
 public:
  Moved() {
    REQUIRE(::chmod(home_.path().c_str(), 0755) == 0);
    test::make_for_group(home_ / "shared", 0755);
    test::make_for_group(home_ / "shared/cache", 02775);
    test::make_for_group(home_ / "state", 0755);
    test::make_for_group(home_ / "open", 02775);
    test::make_for_group(home_ / "open/pool", 02775);
  }
  fs::path root() const { return home_ / "shared/cache"; }
  /// The victim's own, with a file.
  void own(const std::string& name, const std::string& file, mode_t mode = 0755) {
    const fs::path folder = home_ / "open/pool" / name;
    test::make_for_group((folder / file).parent_path(), 0755);
    test::make_for_group(folder, mode);
    base::write_file_atomically(folder / base::made_mark, "");  // as an archive brings it
    REQUIRE(::chown((folder / base::made_mark).c_str(), test::victim_user, test::shared_group) ==
            0);
    base::write_file_atomically(folder / file, "kept");
    REQUIRE(::chown((folder / file).c_str(), test::victim_user, test::shared_group) == 0);
    file_.reset(::open((folder / file).c_str(), O_RDONLY | O_CLOEXEC));
  }
  /// Moves the pool to `place`, and gives `old` in it another name, as the kernel lets the second
  /// user do.
  void plant(const std::string& place, const std::string& name) {
    for (fs::path above = fs::path(place).parent_path(); !above.empty();
         above = above.parent_path()) {
      fs::create_directories(root() / above);
      test::make_for_group(root() / above, 02775);
    }
    Child attacker([&]() -> std::string {
      if (!test::become_member(test::attacking_user)) return "cannot become another";
      fs::rename(home_ / "open/pool", root() / place);
      fs::rename(root() / place / "old", root() / place / name);
      return "";
    });
    REQUIRE(attacker.wait() == "");
    const fs::path old = root() / place / name;
    const auto days = fs::file_time_type::clock::now() - hours(2400);
    for (const fs::path& path : {old / "work", old, root() / place}) {
      std::error_code code;
      fs::last_write_time(path, days, code);
    }
  }
  void act(const std::function<std::string(Victim&)>& work) {
    Child victim([&]() -> std::string {
      if (!test::become_member(test::victim_user)) return "cannot become the victim";
      ::umask(0002);
      Victim user{root(), home_ / "state"};
      return work(user);
    });
    CHECK(victim.wait() == "");
  }
  bool is_whole() const {
    struct stat status {};
    return ::fstat(file_.get(), &status) == 0 && status.st_nlink == 1;
  }

 private:
  test::TempHome home_{};
  base::UniqueFd file_{};
};

}  // namespace

TEST_CASE("moved folder: a collection leaves what it did not make, and says so") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  const std::string hex = base::sha256_of("key").hex;
  const auto [place, name] =
      GENERATE_COPY(std::pair<std::string, std::string>{"damaged", "anything"},
                    std::pair<std::string, std::string>{"trash", "tree.123"},
                    std::pair<std::string, std::string>{"trash", "1001.0"},
                    std::pair<std::string, std::string>{"partial/" + hex, "left.xyz"},
                    std::pair<std::string, std::string>{"trees", hex});
  moved.own("old", "inner/file", 0700);
  moved.plant(place, name);
  moved.act([](Victim& victim) -> std::string {
    const auto seen = victim.collect(true);
    const auto report = victim.collect();
    if (left_alone(seen) != 1) return "the dry run does not say that it is left alone";
    if (left_alone(report) != 1) return "does not say that it is left alone";
    return report.removed.empty() && seen.removed.empty() ? "" : "says that it was removed";
  });
  CHECK(moved.is_whole());
  CHECK(fs::exists(moved.root() / place / name / "inner/file"));
  CHECK((fs::status(moved.root() / place / name).permissions() & fs::perms::others_exec) ==
        fs::perms::none);
}

TEST_CASE("moved folder: an own file is no attempt, whatever its name") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  moved.own("old", "left.txt");
  moved.plant("partial", "key");
  moved.act([](Victim& victim) -> std::string {
    return victim.collect().removed.empty() ? "" : "says that it was removed";
  });
  CHECK(moved.is_whole());
}

TEST_CASE("moved folder: a fetch does not take it over as an attempt") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  moved.own("old", "inner/file", 0700);
  const std::string key = cache::Layout(moved.root()).partial("key").filename();
  moved.plant("partial/" + key, "left.xyz");
  moved.act([](Victim& victim) -> std::string {
    auto cache = victim.open();
    auto partial = cache.open_partial("key");
    partial->write_at(0, base::as_bytes("x"));
    cache.publish(std::move(partial), {});
    cache.open_partial_tree("key");
    return "";
  });
  CHECK(moved.is_whole());
  CHECK(fs::exists(moved.root() / "partial" / key / "left.xyz/inner/file"));
}

TEST_CASE("moved folder: in the place of a tree it is not set aside") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  moved.own("old", "inner/file", 0700);
  const base::Digest digest = base::sha256_of("tree");
  moved.plant("trees", digest.hex);
  moved.act([&](Victim& victim) -> std::string {
    return victim.open().find_tree(digest) ? "is a tree" : "";
  });
  CHECK(fs::exists(moved.root() / "trees" / digest.hex / "inner/file"));
  CHECK((fs::status(moved.root() / "trees" / digest.hex).permissions() & fs::perms::others_exec) ==
        fs::perms::none);
}

TEST_CASE("moved folder: environments leave it, as an attempt, a request or a key") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  SECTION("attempt") {
    moved.own("old", "work/file");
    moved.plant("envs/source/" + key_name, "abcdefgh");
  }
  SECTION("attempt's work folder") {
    moved.own("old", "work/file");
    moved.plant("envs/source/" + key_name, "abcdefgh");
    moved.act([](Victim& victim) -> std::string {
      base::remove_own_tree(env::AttemptFolder{victim.key().path() / "abcdefgh"}.work());
      return "";
    });
  }
  SECTION("request") {
    moved.own("old", "inner/file", 0700);
    moved.plant("envs", ".request-1");
  }
  SECTION("key") {
    moved.own("old", ".settings");
    moved.plant("envs/source", key_name);
  }
  moved.act([](Victim& victim) -> std::string {
    victim.collect_environments();
    { const env::RequestFolder request(victim.root / "envs", victim.clock.now()); }
    try {
      victim.key().remove();
    } catch (const base::Error&) {
      return "";
    }
    return fs::exists(victim.key().path()) ? "is removed by half" : "";
  });
  CHECK(moved.is_whole());
}

TEST_CASE("moved folder: what sabath itself left in a cache of a group is collected") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  moved.act([](Victim& victim) -> std::string {
    base::Digest digest;
    {
      auto cache = victim.open();
      auto partial = cache.open_partial("left", {});
      partial->reserve(10);
      partial->write_at(0, base::as_bytes("half"));
      auto tree = cache.open_partial_tree("tree");
      tree->open("a/b", {}).write_at(0, base::as_bytes("text"));
      tree->finish("a/b", "");
      const auto made = cache.publish(std::move(tree));
      digest = made.digest;
      test::overwrite(made.path / "a/b", "evil");
      if (cache.find_tree(digest)) return "believes a damaged tree";
    }
    const auto layout = victim.layout();
    layout.ensure_folder(layout.trash());
    const auto trash = layout.beneath().directory(layout.trash());
    if (base::make_marked(trash, std::to_string(test::victim_user) + ".77", 0700) != 0)
      return "cannot make a folder of the trash";
    base::write_file_atomically(layout.trash() / "1001.77/file", "x");
    const auto report = victim.collect();
    const std::set<std::string> wanted{"damaged", "partial"};
    if (removed_kinds(report) != wanted) return "not all was removed";
    if (left_alone(report) != 0) return "an own folder is left alone";
    if (test::entries_in(layout.trash()) != 1) return "something is left in the trash";
    if (test::entries_in(layout.partials()) != 0) return "something is left of the attempts";
    // The folder that is kept serves once more.
    {
      auto cache = victim.open();
      put(cache, "garbage");
    }
    if (victim.collect().removed.size() != 1) return "an object stays";
    return test::entries_in(layout.trash()) == 1 ? "" : "something is left in the trash";
  });
}

TEST_CASE("moved folder: a damaged tree without its manifest stays in a cache of a group") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  moved.act([](Victim& victim) -> std::string {
    fs::path path;
    {
      auto cache = victim.open();
      auto tree = cache.open_partial_tree("tree");
      tree->open("a", {}).write_at(0, base::as_bytes("text"));
      tree->finish("a", "");
      path = cache.publish(std::move(tree)).path;
    }
    ::chmod(path.c_str(), 0755);
    fs::remove(path / ".sabath-tree.json");
    const auto report = victim.collect();
    if (left_alone(report) != 1 || !report.removed.empty()) return "does not say that it stays";
    return fs::exists(path / "a") ? "" : "is gone";
  });
}

TEST_CASE("moved folder: environments of a group remove their own, of older versions too") {
  if (SharedCache::is_skipped()) return;
  Moved moved;
  const bool is_older = GENERATE(false, true);
  moved.act([&](Victim& victim) -> std::string {
    const auto layout = victim.layout();
    layout.ensure_folder(layout.environments());
    const auto make = [&] {
      const env::AttemptFolder attempt = victim.failed_attempt();
      if (is_older) fs::remove(attempt.path / base::made_mark);
      base::write_file_atomically(attempt.work() / "file", "x");
      return attempt;
    };
    const env::AttemptFolder attempt = make();
    if ((fs::status(attempt.work()).permissions() & fs::perms::group_all) != fs::perms::none)
      return "others can reach what a build makes";
    victim.collect_environments();
    if (fs::exists(attempt.path)) return "a failed attempt stays";
    make();
    victim.key().remove();
    if (fs::exists(victim.key().path())) return "a key stays";
    { const env::RequestFolder request(layout.environments(), victim.clock.now()); }
    for (const auto& entry : fs::directory_iterator(layout.environments())) {
      if (entry.path().filename().string().starts_with(".")) return "a request stays";
    }
    return "";
  });
}

TEST_CASE(
    "moved folder: a cache that nobody else can write to forgets what an older version left") {
  const test::TempHome home;
  Victim user{home / "cache", home / "state"};
  user.open();
  const std::string hex = base::sha256_of("key").hex;
  for (const std::string folder : {"trash/1001.5", "damaged/x", "envs/.request-1"})
    fs::create_directories(user.root / folder / "inner");
  fs::create_directories(user.root / "partial" / hex / "left.1/inner");
  fs::permissions(user.root / "partial" / hex / "left.1", fs::perms::owner_all);
  for (const std::string folder : {"trash/1001.5", "damaged/x", "envs/.request-1"})
    base::write_file_atomically(user.root / folder / "inner/file", "x");
  fs::last_write_time(user.root / "envs/.request-1",
                      fs::file_time_type::clock::now() - hours(2400));
  CHECK(user.collect().removed.size() == 2);
  user.collect_environments();
  CHECK(test::entries_in(user.root / "trash") == 1);
  CHECK(test::entries_in(user.root / "damaged") == 0);
  CHECK(test::entries_in(user.root / "partial") == 0);
  CHECK(test::entries_in(user.root / "envs") == 0);
}

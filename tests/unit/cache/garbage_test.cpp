// What is kept and what goes.
#include "cache_home.hpp"
#include "support/child.hpp"
#include "support/child_process.hpp"

#include <sabath/cache/cache_maintenance.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using test::CacheHome;
using test::Child;
using test::entries_in;
using test::put;

namespace fs = std::filesystem;
using std::chrono::seconds;

namespace {

struct Store {
  CacheHome home{};
  base::SystemClock clock{};
  base::SilentObserver observer{};

  cache::CacheMaintenance maintenance() { return {home.root(), home.memo(), clock}; }
  /// Everything unused goes, without grace.
  cache::GarbageReport collect(const std::set<base::Digest>& keep = {},
                               std::optional<std::uint64_t> max_bytes = {},
                               bool dry_run = false) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // beyond the kernel's clock step
    return maintenance().collect({keep, max_bytes, seconds(0), dry_run}, observer);
  }
  /// But for the folder that is kept for a full file system.
  bool is_trash_empty() const {
    const fs::path kept = home.root() / "trash" / (std::to_string(::geteuid()) + ".0");
    return entries_in(home.root() / "trash") == 1 && fs::is_directory(kept) &&
           entries_in(kept) == 1 && fs::exists(kept / ".sabath-made");
  }
  std::set<std::string> present() {
    std::set<std::string> all;
    for (const cache::Stored& stored : maintenance().inventory(observer).stored)
      all.insert(std::string(to_string(stored.kind)) + " " + stored.digest.hex);
    return all;
  }
};

std::string object_name(const base::Digest& digest) {
  return "object " + digest.hex;
}

std::string tree_name(const base::Digest& digest) {
  return "tree " + digest.hex;
}

}  // namespace

TEST_CASE("gc: what nothing refers to goes, and what was just used stays") {
  Store store;
  const auto digest = [&] {
    auto cache = store.home.open();
    return put(cache, "garbage").digest;
  }();
  const auto kept = store.maintenance().collect({}, store.observer);
  CHECK(kept.removed.empty());
  CHECK(store.present().contains(object_name(digest)));
  const auto report = store.collect();
  REQUIRE(report.removed.size() == 1);
  CHECK(report.removed.front().name == digest.text());
  CHECK(report.freed_bytes >= 7);
  CHECK(store.present().empty());
  CHECK_FALSE(store.home.open().find(digest));
  CHECK(store.is_trash_empty());
}

TEST_CASE("gc: a dry run says the same and removes nothing") {
  Store store;
  {
    auto cache = store.home.open();
    put(cache, "one");
    put(cache, "two");
    cache.publish_tree({{"x", put(cache, "three")}});
  }
  const auto before = store.present();
  const auto dry = store.collect({}, {}, true);
  CHECK(store.present() == before);
  const auto real = store.collect();
  CHECK(dry.removed.size() == real.removed.size());
  CHECK(dry.freed_bytes == real.freed_bytes);
  CHECK(real.removed.size() == 4);
}

TEST_CASE("gc: over random graphs just what is referred to stays, and it is whole", "[long]") {
  Store store;
  std::mt19937 random(GENERATE(1U, 2U, 3U, 4U, 5U));
  const auto one_of = [&](std::size_t count) { return random() % count; };
  std::set<std::string> expected;
  std::set<base::Digest> keep;
  {
    auto cache = store.home.open();
    std::vector<cache::Object> objects;
    for (int i = 0; i < 24; ++i)
      objects.push_back(put(cache, "object " + std::to_string(random())));
    std::map<std::string, std::vector<cache::Object>> trees;
    std::vector<base::Digest> names;
    for (int i = 0; i < 8; ++i) {
      std::map<std::string, cache::Object> files;
      for (std::size_t n = 1 + one_of(5); n > 0; --n)
        files.emplace("f" + std::to_string(n), objects[one_of(objects.size())]);
      const auto tree = cache.publish_tree(files);
      names.push_back(tree.digest);
      for (const auto& [path, object] : files)
        trees[tree.digest.hex].push_back(object);
    }
    auto maintenance = store.maintenance();
    const auto refer = [&](const base::Digest& digest) {
      const bool is_tree = trees.contains(digest.hex);
      expected.insert(is_tree ? tree_name(digest) : object_name(digest));
      if (!is_tree) return;
      for (const auto& object : trees.at(digest.hex))
        expected.insert(object_name(object.digest));
    };
    for (int i = 0; i < 3; ++i) {
      const base::Digest run = one_of(2) == 0 ? names[one_of(8)] : objects[one_of(24)].digest;
      keep.insert(run);
      refer(run);
      const base::Digest pinned = one_of(2) == 0 ? names[one_of(8)] : objects[one_of(24)].digest;
      maintenance.pin({"pin " + std::to_string(i), "", "", "", {pinned}});
      refer(pinned);
      const auto& output = objects[one_of(24)];
      cache.remember_stage(
          {"key" + std::to_string(i), "run", "host", "now", {{"o", output.digest}}});
      refer(output.digest);
    }
  }
  store.collect(keep);
  CHECK(store.present() == expected);
  CHECK(store.home.open().verify(true, store.observer).damaged.empty());
}

TEST_CASE("gc: what a living process uses stays until it ends") {
  Store store;
  base::Digest digest;
  {
    auto cache = store.home.open();
    digest = put(cache, "in use").digest;
    CHECK(store.collect().removed.empty());
  }
  {
    auto reader = store.home.open();
    REQUIRE(reader.find(digest));
    CHECK(store.collect().removed.empty());
    CHECK(reader.find(digest));
  }
  CHECK(store.collect().removed.size() == 1);
}

TEST_CASE("gc: a tree that cannot go keeps the objects that it is made of") {
  // What somebody begins to use in the moment of the collection stays the same way.
  const int status = test::status_as_ordinary_user([] {
    Store store;
    base::Digest used;
    {
      auto cache = store.home.open();
      used = put(cache, "of the tree").digest;
      cache.publish_tree({{"f", *cache.find(used)}});
      put(cache, "of none");
    }
    const fs::path trees = store.home.root() / "trees";
    fs::permissions(trees, fs::perms::owner_read | fs::perms::owner_exec);
    const auto removed = store.collect().removed;
    fs::permissions(trees, fs::perms::owner_all);
    if (removed.size() != 1 || removed.front().name == used.text()) return 1;
    return store.home.open().find(used) ? 0 : 2;
  });
  CHECK(status == 0);
}

TEST_CASE("gc: the registration of a process that was killed holds nothing back") {
  Store store;
  const auto content = std::string("left by the dead");
  {
    Child child([&] {
      auto cache = store.home.open();
      put(cache, content);
      ::pause();
      return std::string();
    });
    const auto is_there = [&] { return store.present().size() == 1; };
    for (int tries = 0; tries < 500 && !is_there(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(is_there());
    CHECK(store.collect().removed.empty());
    child.kill();
    child.wait();
  }
  CHECK(store.collect().removed.size() == 1);
  CHECK(entries_in(store.home.root() / "users") == 0);
}

TEST_CASE("gc: --max-size stops as soon as the cache is small enough, the oldest first") {
  Store store;
  std::vector<base::Digest> digests;
  for (int i = 0; i < 4; ++i) {
    {
      auto cache = store.home.open();
      digests.push_back(put(cache, std::string(1U << 20U, static_cast<char>('a' + i))).digest);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  {
    auto cache = store.home.open();
    REQUIRE(cache.find(digests[0]));  // used last by now
  }
  const auto before = store.maintenance().inventory(store.observer).disk_bytes(store.home.root());
  const auto report = store.collect({}, before - (1U << 20U) - 1);
  REQUIRE(report.removed.size() == 2);
  CHECK(report.removed[0].name == digests[1].text());
  CHECK(report.removed[1].name == digests[2].text());
  CHECK(store.present() == std::set{object_name(digests[0]), object_name(digests[3])});
  CHECK(store.collect({}, before).removed.empty());
}

TEST_CASE("gc: an object that was made again after it went is whole") {
  Store store;
  {
    auto cache = store.home.open();
    put(cache, "again and again");
  }
  REQUIRE(store.collect().removed.size() == 1);
  auto cache = store.home.open();
  const auto object = put(cache, "again and again");
  CHECK(base::read_file(object.path) == "again and again");
  CHECK(cache.find(object.digest));
}

TEST_CASE("gc: what processes publish and find meanwhile they keep") {
  Store store;
  store.home.open();
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 12; ++round) {
      base::SystemClock clock;
      cache::Cache cache(store.home.root(), store.home / ("state-" + std::to_string(seed)), clock);
      std::map<std::string, cache::Object> files;
      for (int i = 0; i < 6; ++i) {
        const std::string content = "shared " + std::to_string(random() % 12);
        auto object = cache.find(base::sha256_of(content));
        files.emplace("f" + std::to_string(i), object ? *object : put(cache, content));
      }
      const auto tree = cache.publish_tree(files);
      for (const auto& [path, object] : files) {
        if (base::sha256_of(base::read_file(tree.path / path)) != object.digest) {
          return std::string("wrong bytes in ") + path;
        }
      }
      if (!cache.find_tree(tree.digest)) return std::string("the tree is gone");
    }
    return std::string();
  };
  std::vector<Child> workers;
  for (unsigned seed = 1; seed <= 3; ++seed)
    workers.emplace_back([&work, seed] { return work(seed); });
  Child collector([&] {
    for (int round = 0; round < 60; ++round)
      store.maintenance().collect({{}, {}, seconds(0), false}, store.observer);
    return std::string();
  });
  for (Child& worker : workers)
    CHECK(worker.wait() == "");
  CHECK(collector.wait() == "");
  CHECK(store.home.open().verify(true, store.observer).damaged.empty());
}

TEST_CASE("gc: what a collection left in the trash when it was killed goes with the next") {
  Store store;
  store.home.open();
  fs::create_directories(store.home.root() / "trash/tree.1/sub");
  base::write_file_atomically(store.home.root() / "trash/tree.1/sub/file", "x");
  ::chmod((store.home.root() / "trash/tree.1/sub").c_str(), 0555);
  store.collect();
  CHECK(store.is_trash_empty());
}

TEST_CASE("gc: the folder that is kept in the trash is used again, and emptied first") {
  Store store;
  const auto put_garbage = [&] {
    auto cache = store.home.open();
    put(cache, "garbage");
  };
  const fs::path kept = store.home.root() / "trash" / (std::to_string(::geteuid()) + ".0");
  put_garbage();
  REQUIRE(store.collect().removed.size() == 1);
  REQUIRE(store.is_trash_empty());
  struct stat before {};
  struct stat after {};
  REQUIRE(::stat(kept.c_str(), &before) == 0);
  base::write_file_atomically(kept / "left", "x");
  put_garbage();
  CHECK(store.collect().removed.size() == 1);
  CHECK(store.is_trash_empty());
  REQUIRE(::stat(kept.c_str(), &after) == 0);
  CHECK(after.st_ino == before.st_ino);
}

TEST_CASE("gc: a file or a link in the place of the kept folder of the trash changes nothing") {
  const bool is_link = GENERATE(false, true);
  Store store;
  {
    auto cache = store.home.open();
    put(cache, "unused");
  }
  const fs::path kept = store.home.root() / "trash" / (std::to_string(::geteuid()) + ".0");
  fs::create_directories(kept.parent_path());
  if (is_link) {
    fs::create_symlink("nowhere", kept);
  } else {
    std::ofstream(kept) << "not a folder";
  }
  CHECK(store.collect().removed.size() == 1);
  CHECK(store.present().empty());
}

TEST_CASE("gc: what another user owns stays, and so do his pins") {
  if (::geteuid() != 0) return;
  Store store;
  base::Digest theirs;
  base::Digest ours;
  base::Digest pinned;
  {
    auto cache = store.home.open();
    const auto object = put(cache, "theirs");
    theirs = object.digest;
    REQUIRE(::chown(object.path.c_str(), 65534, 65534) == 0);
    ours = put(cache, "ours").digest;
    pinned = put(cache, "pinned by another").digest;
    store.maintenance().pin({"x", "", "", "", {pinned}});
  }
  for (const auto& file : fs::directory_iterator(store.home.root() / "pins"))
    REQUIRE(::chown(file.path().c_str(), 65534, 65534) == 0);
  const auto report = store.collect();
  CHECK(store.present() == std::set{object_name(theirs), object_name(pinned)});
  CHECK(report.kept.contains("another user's"));
}

TEST_CASE("gc: attempts of the dead and what is damaged go, attempts of the living stay") {
  Store store;
  {
    auto cache = store.home.open();
    const auto object = put(cache, "right bytes");
    test::overwrite(object.path, "wrong bytes");
    CHECK_FALSE(cache.find(object.digest));
    auto left = cache.open_partial("left", {base::sha256_of("x")});
    left->write_at(0, base::as_bytes("half of it"));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // beyond the kernel's clock step
  Child living([&] {
    auto cache = store.home.open();
    auto partial = cache.open_partial("living", {base::sha256_of("y")});
    partial->write_at(0, base::as_bytes("half of it"));
    ::pause();
    return std::string();
  });
  const fs::path partials = store.home.root() / "partial";
  for (int tries = 0; tries < 500 && entries_in(partials) < 2; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(entries_in(partials) == 2);
  REQUIRE(entries_in(store.home.root() / "damaged") == 1);
  store.collect();
  CHECK(entries_in(partials) == 1);
  CHECK(entries_in(store.home.root() / "damaged") == 0);
  living.kill();
  living.wait();
  store.collect();
  CHECK(entries_in(partials) == 0);
}

TEST_CASE("gc: what was given up goes at once where its object was published by another") {
  Store store;
  auto cache = store.home.open();
  const auto digest = base::sha256_of("content");
  const auto give_up = [&](const std::string& key) {
    auto partial = cache.open_partial(key, {digest});
    partial->reserve(7);
    partial->write_at(0, base::as_bytes("con"));
  };
  give_up(digest.hex);
  give_up("something else");
  // What is kept under a source's URL may be of the version after that one.
  const std::string url = "https://host.example/x";
  give_up(base::sha256_of(url).hex);
  put(cache, "content");
  cache.remember_source({.url = url,
                         .digest = digest,
                         .size_bytes = 7,
                         .etag = "",
                         .last_modified = "",
                         .fetched = "2026-11-20T10:32:05.123Z"});
  const fs::path partials = store.home.root() / "partial";
  REQUIRE(entries_in(partials) == 3);
  const auto report = store.maintenance().collect({}, store.observer);
  REQUIRE(report.removed.size() == 1);
  CHECK(report.removed.front().kind == "partial");
  CHECK(report.removed.front().name.starts_with(digest.hex));
}

TEST_CASE("gc: remains of claims go after a day, claims stay") {
  Store store;
  store.home.open();
  const fs::path claims = store.home.root() / "claims";
  fs::create_directories(claims);
  for (const char* name : {"aa", ".claim-1234", "aa.dead.5678", ".claim-new"})
    base::write_file_atomically(claims / name, "x");
  for (const char* name : {"aa", ".claim-1234", "aa.dead.5678"})
    fs::last_write_time(claims / name, fs::file_time_type::clock::now() - std::chrono::hours(25));
  const auto report = store.collect();
  CHECK(report.removed.size() == 2);
  CHECK(fs::exists(claims / "aa"));
  CHECK(fs::exists(claims / ".claim-new"));
  CHECK(entries_in(claims) == 2);
}

TEST_CASE("gc: an attempt of another host goes only after it was seen unchanged for a week") {
  Store store;
  store.home.open();
  const fs::path attempt = store.home.root() / "partial/key/0123.4567.89.10.11.ab";
  fs::create_directories(attempt);
  base::write_file_atomically(attempt / "data", "x");
  class LaterClock final : public base::Clock {
   public:
    base::WallTime now() const override { return base::SystemClock().now() + ahead; }
    base::SteadyTime steady() const override { return base::SystemClock().steady(); }
    void sleep_for(std::chrono::nanoseconds) override {}
    std::chrono::hours ahead{0};
  } clock;
  const auto collect = [&] {
    cache::CacheMaintenance(store.home.root(), store.home.memo(), clock)
        .collect({{}, {}, seconds(0), false}, store.observer);
  };
  clock.ahead = std::chrono::hours(24 * 365);  // whatever the clock says, it was not seen before
  collect();
  CHECK(fs::exists(attempt));
  clock.ahead += std::chrono::hours(24 * 6);
  collect();
  CHECK(fs::exists(attempt));
  clock.ahead += std::chrono::hours(24 * 2);
  collect();
  CHECK_FALSE(fs::exists(attempt));
}

TEST_CASE("inventory: what is shared is counted once, and everything has its origin") {
  Store store;
  auto cache = store.home.open();
  const auto big = put(cache, std::string(1U << 20U, 'x'));
  const auto tree = cache.publish_tree({{"a", big}, {"b", big}});
  cache.remember_source(
      {.url = "https://host.example/x", .digest = big.digest, .size_bytes = 1U << 20U});
  store.maintenance().pin({"name", "why", "who", "when", {tree.digest}});
  const auto inventory = store.maintenance().inventory(store.observer);
  REQUIRE(inventory.stored.size() == 2);
  const cache::Stored& object = inventory.stored[0];
  const cache::Stored& holder = inventory.stored[1];
  CHECK(object.sources == std::vector<std::string>{"https://host.example/x"});
  CHECK(object.trees == 1);
  CHECK(object.disk_bytes >= (1U << 20U));
  CHECK(holder.pins == std::vector<std::string>{"name"});
  CHECK(holder.size_bytes == 2U << 20U);
  CHECK(holder.disk_bytes < (1U << 19U));
  CHECK(inventory.disk_bytes(store.home.root()) < (3U << 19U));
}

TEST_CASE("pins: the same name replaces, and only an own one is removed") {
  Store store;
  auto maintenance = store.maintenance();
  const auto digest = base::sha256_of("x");
  maintenance.pin({"b", "first", "me", "now", {digest}});
  maintenance.pin({"b", "second", "me", "now", {digest}});
  maintenance.pin({"a", "", "me", "now", {}});
  const auto pins = maintenance.pins();
  REQUIRE(pins.size() == 2);
  CHECK(pins[0].name == "a");
  CHECK(pins[1].reason == "second");
  CHECK(pins[1].digests == std::vector{digest});
  CHECK(maintenance.unpin("b"));
  CHECK_FALSE(maintenance.unpin("b"));
  CHECK(maintenance.pins().size() == 1);
}

TEST_CASE("gc: the empty folder of a key whose last attempt was killed as it tidied up goes") {
  Store store;
  const fs::path partials = store.home.root() / "partial";
  fs::create_directories(partials / std::string(64, 'a'));
  store.collect({}, {}, true);
  CHECK(entries_in(partials) == 1);
  store.collect();
  CHECK(entries_in(partials) == 0);
}

// What another member of the group cannot make a collection do.
#include "shared_cache.hpp"

#include <cache/trees/tree_store.hpp>

#include <algorithm>
#include <cstdio>

#include <fcntl.h>

using namespace sabath;
using test::error_of;
using test::put;
using test::SharedCache;

namespace fs = std::filesystem;

TEST_CASE("shared gc: a top folder that is a link is refused, and what it leads to stays") {
  if (SharedCache::is_skipped()) return;
  const std::string name = GENERATE("trash", "objects", "trees", "partial", "damaged", "claims");
  SharedCache shared;
  fs::remove_all(shared.root() / name);
  fs::create_directory_symlink(shared.home / "victim", shared.root() / name);
  SharedCache::give(shared.root() / name);
  const auto error = error_of([&] { shared.collect(); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(std::string(error->what()).find((shared.root() / name).string() + ": is a symbolic link") ==
        0);
  CHECK_FALSE(error->hint().empty());
  CHECK(error_of([&] { shared.open(); }));
  CHECK(shared.is_whole());
}

TEST_CASE("shared gc: a link that appears while the cache is open is not followed either") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  cache::CacheMaintenance maintenance = shared.maintenance();
  const auto digest = [&] {
    auto cache = shared.open();
    return put(cache, "garbage").digest;
  }();
  fs::create_directory_symlink(shared.home / "victim", shared.root() / "trash");
  SharedCache::give(shared.root() / "trash");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto report =
      maintenance.collect({{}, {}, std::chrono::seconds(0), false}, shared.observer);
  CHECK(report.removed.empty());
  CHECK(shared.is_whole());
  CHECK(fs::exists(shared.root() / "objects/sha256" / digest.hex.substr(0, 2)));
  CHECK(std::distance(fs::directory_iterator(shared.home / "victim"), {}) == 1);
}

TEST_CASE("shared gc: a folder that its group may write is not removed, whatever its name") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  const std::string hex = base::sha256_of("a tree").hex;
  const std::string name = GENERATE_COPY("trash/" + hex + ".123",
                                         "trees/" + hex,
                                         "damaged/" + hex + ".2020-01-01T00:00:00Z",
                                         "partial/" + hex + "/left.0123");
  // Of the victim's own, moved there by a member of its group.
  SharedCache::share(shared.home / "victim");
  fs::create_directories((shared.root() / name).parent_path());
  fs::rename(shared.home / "victim", shared.root() / name);
  shared.collect();
  CHECK(fs::exists(shared.root() / name / "old/inner/file"));
}

TEST_CASE("shared gc: what stands in the trash under another name is not the collection's") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  fs::create_directories(shared.root() / "trash/results");
  fs::create_directories(shared.root() / "trash" / (base::sha256_of("x").hex + ".17"));
  shared.collect();
  CHECK(fs::exists(shared.root() / "trash/results"));
  // The other one is the folder that a collection keeps, with nothing but its mark.
  CHECK(std::distance(fs::directory_iterator(shared.root() / "trash"), {}) == 2);
  CHECK(test::entries_in(shared.root() / "trash" / (std::to_string(::geteuid()) + ".0")) == 1);
}

TEST_CASE("shared: an attempt that others can write to is not taken over") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  const auto expected = base::sha256_of("content");
  const fs::path planted = shared.root() / "partial" / expected.hex / "left.0123";
  fs::create_directories(planted);
  base::write_file_atomically(planted / "data", "evil");
  base::write_file_atomically(planted / "journal", "sabath journal 1\nsize 4\n");
  SharedCache::share(planted);
  auto cache = shared.open();
  CHECK(cache.open_partial(expected.hex, {})->present_bytes() == 0);
  CHECK(fs::exists(planted / "data"));
}

TEST_CASE("shared: a fetch writes into its own attempt even when the folders above are exchanged") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  auto partial = cache.open_partial("key", {});
  const fs::path key_folder = *fs::directory_iterator(shared.root() / "partial");
  const fs::path attempt = *fs::directory_iterator(key_folder);
  fs::rename(shared.root() / "partial", shared.home / "away");
  fs::create_directories(shared.root() / "partial" / key_folder.filename());
  fs::create_directory_symlink(
      shared.home / "victim",
      shared.root() / "partial" / key_folder.filename() / attempt.filename());
  for (const fs::path& path :
       {shared.root() / "partial",
        shared.root() / "partial" / key_folder.filename(),
        shared.root() / "partial" / key_folder.filename() / attempt.filename()})
    SharedCache::give(path);
  partial->write_at(0, base::as_bytes("bytes"));
  const auto object = cache.publish(std::move(partial), {});
  CHECK(base::read_file(object.path) == "bytes");
  CHECK(shared.is_whole());
  CHECK(std::distance(fs::directory_iterator(shared.home / "victim"), {}) == 1);
}

TEST_CASE("shared: objects that are a link get nothing from a fetch") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  auto partial = cache.open_partial("key", {});
  partial->write_at(0, base::as_bytes("bytes"));
  fs::create_directory_symlink(shared.home / "victim", shared.root() / "objects");
  SharedCache::give(shared.root() / "objects");
  const auto error = error_of([&] { cache.publish(std::move(partial), {}); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(std::distance(fs::directory_iterator(shared.home / "victim"), {}) == 1);
}

TEST_CASE("cache: a user's own links keep working where nobody else can make any") {
  test::TempHome home;
  base::SystemClock clock;
  fs::create_directories(home / "disk/objects");
  fs::create_directories(home / "disk/cache");
  fs::create_directory_symlink(home / "disk/cache", home / "cache");
  cache::Cache(home / "cache", home / "state", clock);
  fs::create_directory_symlink(home / "disk/objects", home / "cache/objects");
  cache::Cache cache(home / "cache", home / "state", clock);
  const auto object = put(cache, "elsewhere");
  CHECK(cache.find(object.digest));
  CHECK_FALSE(fs::is_empty(home / "disk/objects"));
}

TEST_CASE("shared: a run's output never becomes one file with another user's object") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto object = put(cache, "content");
  SharedCache::give(object.path);
  REQUIRE(cache.find(object.digest));
  fs::create_directories(shared.home / "run");
  CHECK(cache.link(object.digest, shared.home / "run/x").value_or("").find("another user") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(shared.home / "run/x"));
  CHECK(fs::is_empty(shared.home / "run"));
}

TEST_CASE("shared: a tree that is exchanged only while it is read is not believed later") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  base::Digest digest;
  {
    auto cache = shared.open();
    digest = cache.publish_tree({{"a", put(cache, "right")}}).digest;
  }
  // The folders of another user, with other bytes under the same names. An exchange of the folders
  // above leaves no trace in them.
  const fs::path objects = shared.root() / "objects";
  fs::copy(objects, shared.root() / "evil", fs::copy_options::recursive);
  for (const auto& entry : fs::recursive_directory_iterator(shared.root() / "evil")) {
    if (entry.is_regular_file()) test::overwrite(entry.path(), "wrong");
  }
  const auto exchange = [&] {
    REQUIRE(::renameat2(AT_FDCWD,
                        objects.c_str(),
                        AT_FDCWD,
                        (shared.root() / "evil").c_str(),
                        1U << 1U /* RENAME_EXCHANGE */) == 0);
  };
  const cache::Layout layout(shared.root());
  const cache::Memo memo(shared.home / "other", layout.root());
  const cache::TreeStore trees(layout, memo, shared.clock, nullptr, {});
  if (!fs::is_symlink(layout.tree(digest) / "a")) return;  // blocks are shared: nothing to exchange
  exchange();
  auto look = trees.look(digest);
  exchange();
  for (const auto& entry : look.entries) {
    const fs::path file = layout.tree(digest) / entry.path;
    const auto hashed = cache::hash_file(file);
    CHECK(hashed.digest == entry.digest);
    look.note_read(file, hashed.status);
  }
  trees.conclude(digest, look);
  exchange();
  CHECK_FALSE(trees.look(digest).is_known);
  CHECK_FALSE(trees.inspect(digest).damaged.empty());
  exchange();
  CHECK(trees.inspect(digest).damaged.empty());
  CHECK(trees.look(digest).is_known);
}

TEST_CASE("shared: what was just published in a group's cache is hashed at its first use") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto digest = cache.publish_tree({{"a", put(cache, "right")}}).digest;
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 5);
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 0);
}

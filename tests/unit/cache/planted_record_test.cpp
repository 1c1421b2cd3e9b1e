// Every record that docs/formats/cache.md says is not believed from just anybody.
#include "shared_cache.hpp"
#include "tar_file.hpp"

#include <cache/layout.hpp>
#include <cache/records_json.hpp>

#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>

using namespace sabath;
using test::put;
using test::SharedCache;

namespace fs = std::filesystem;

namespace {

/// As a member of the group writes it.
void plant(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  base::write_file_atomically(path, text);
  SharedCache::give(path);
}

cache::SourceRecord source_of(const std::string& url,
                              const base::Digest& digest,
                              cache::SourceRecord::Kind kind) {
  cache::SourceRecord record;
  record.kind = kind;
  record.url = url;
  record.digest = digest;
  record.size_bytes = 4;
  record.fetched = "2026-11-20T10:32:05.123Z";
  return record;
}

}  // namespace

TEST_CASE("planted: a source record of another user counts for nothing, of whatever kind") {
  if (SharedCache::is_skipped()) return;
  using Kind = cache::SourceRecord::Kind;
  const Kind kind = GENERATE(Kind::url,
                             Kind::tree,
                             Kind::listing,
                             Kind::files,
                             Kind::origins,
                             Kind::digest,
                             Kind::unpacked,
                             Kind::link);
  SharedCache shared;
  auto cache = shared.open();
  const auto evil = put(cache, "evil");
  const cache::Layout layout(shared.root());
  const std::string name = "sha512:" + std::string(128, 'a');
  plant(layout.source(name), cache::record_text(source_of(name, evil.digest, kind)));
  CHECK_FALSE(cache.source(name));
  CHECK(shared.maintenance().sources().empty());
  // Of a trusted owner, or a member of a trusted group, it does; but which object has a digest is
  // found out from the bytes.
  auto trusting = shared.open("state", {{test::other_user}, {}});
  CHECK(trusting.source(name).has_value() == (kind != Kind::digest));
  if (kind != Kind::digest) return;
  trusting.remember_source(source_of(name, evil.digest, kind));
  CHECK(trusting.source(name));
}

TEST_CASE("planted: what an archive was unpacked to is found by unpacking it") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto evil = cache.publish_tree({{"a.txt", put(cache, "evil")}});
  const fs::path tar = shared.home / "right.tar";
  base::write_file_atomically(tar, test::tar_of({{"a.txt", "right"}}));
  const auto archive = cache.publish_file(tar);
  const cache::Layout layout(shared.root());
  plant(layout.unpacked(archive.digest),
        cache::record_text(cache::UnpackedTree{archive.digest, evil.digest}));
  const auto tree = cache.publish_archives({{archive, "tar", {}, {}}}, {}, shared.observer);
  CHECK(tree.digest != evil.digest);
  CHECK(base::read_file(tree.path / "a.txt") == "right");
}

TEST_CASE("planted: outputs of a stage, and the parts of an asset, count from oneself alone") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto evil = put(cache, "evil");
  const cache::Layout layout(shared.root());
  const std::string key = base::sha256_of("stage").hex;
  plant(layout.stage(key),
        cache::record_text(cache::StageOutputs{
            key, "run", "host", "2026-11-20T10:32:05.123Z", {{"out", evil.digest}}, {}}));
  plant(layout.asset("asset"), cache::record_text(cache::AssetRecord{"asset", {evil.digest}}));
  CHECK_FALSE(cache.stage_outputs(key));
  CHECK_FALSE(cache.asset("asset"));
}

TEST_CASE("planted: one's own record, moved to the place of another, counts for nothing") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto right = put(cache, "right");
  const auto evil = put(cache, "evil");
  const cache::Layout layout(shared.root());
  using Kind = cache::SourceRecord::Kind;
  const auto exchange = [](const fs::path& a, const fs::path& b) {
    REQUIRE(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 1U << 1U /* EXCHANGE */) == 0);
  };
  const auto [pinned, other] = GENERATE(table<std::string, std::string>(
      {{"sha512:" + std::string(128, 'a'), "https://evil.example/x"},
       {"https://host.example/data?part=1", "https://host.example/data?part=2"}}));
  CAPTURE(pinned);
  cache.remember_source(
      source_of(pinned, right.digest, pinned[0] == 's' ? Kind::digest : Kind::url));
  cache.remember_source(source_of(other, evil.digest, Kind::url));
  CHECK(cache.source(pinned).value().digest == right.digest);
  exchange(layout.source(pinned), layout.source(other));
  CHECK_FALSE(cache.source(pinned));
  CHECK_FALSE(cache.source(other));
  CHECK_FALSE(shared.open("another-state").source(pinned));
  cache.remember_asset({"asset", {right.digest}});
  cache.remember_asset({"evil", {evil.digest}});
  exchange(layout.asset("asset"), layout.asset("evil"));
  CHECK_FALSE(cache.asset("asset"));

  const auto unpack = [&](const std::string& text) {
    const fs::path tar = shared.home / "a.tar";
    base::write_file_atomically(tar, test::tar_of({{"a.txt", text}}));
    const auto archive = cache.publish_file(tar);
    return std::pair{archive,
                     cache.publish_archives({{archive, "tar", {}, {}}}, {}, shared.observer)};
  };
  const auto [archive, tree] = unpack("right");
  const auto [evil_archive, evil_tree] = unpack("evil");
  exchange(layout.unpacked(archive.digest), layout.unpacked(evil_archive.digest));
  CHECK(cache.publish_archives({{archive, "tar", {}, {}}}, {}, shared.observer).digest ==
        tree.digest);
}

TEST_CASE("planted: an object moved to the place of a record is no record") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto evil = put(cache, "evil");
  const std::string url = "https://host.example/pinned";
  // The victim fetched it, so it belongs to the victim. Who chose its bytes can move it.
  const auto text = cache::record_text(source_of(url, evil.digest, cache::SourceRecord::Kind::url));
  const auto object = put(cache, text);
  const cache::Layout layout(shared.root());
  fs::create_directories(layout.sources());
  fs::rename(object.path, layout.source(url));
  CHECK_FALSE(cache.source(url));
}

TEST_CASE("planted: what stands in the place of a record and cannot be read counts as absent") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const std::string url = "https://host.example/data";
  const auto record = source_of(url, put(cache, "data").digest, cache::SourceRecord::Kind::url);
  const fs::path place = cache::Layout(shared.root()).source(url);
  fs::create_directories(place.parent_path());
  const std::string what = GENERATE("link", "folder", "pipe");
  CAPTURE(what);
  if (what == "link") {
    base::write_file_atomically(shared.home / "record", cache::record_text(record));
    fs::create_symlink(shared.home / "record", place);
  } else if (what == "folder") {
    fs::create_directory(place);
  } else {
    REQUIRE(::mkfifo(place.c_str(), 0644) == 0);
  }
  SharedCache::give(place);
  CHECK_FALSE(cache.source(url));
  // One's own takes its place, unless that is a folder.
  if (what == "folder") return;
  cache.remember_source(record);
  CHECK(cache.source(url).value().digest == record.digest);
}

TEST_CASE("planted: members that found the same believe one record, and no other one") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  auto cache = shared.open();
  const auto right = put(cache, "data");
  const std::string url = "https://host.example/data";
  const auto record = source_of(url, right.digest, cache::SourceRecord::Kind::url);
  cache.remember_source(record);
  const cache::Layout layout(shared.root());
  // Another member has fetched the same on another day.
  auto later = record;
  later.fetched = "2026-11-21T10:32:05.123Z";
  plant(layout.source(url), cache::record_text(later));
  CHECK(cache.source(url).value().fetched == later.fetched);
  // Nothing of it is replaced where this user finds the same.
  cache.remember_source(record);
  CHECK(cache.source(url).value().fetched == later.fetched);
  later.digest = put(cache, "evil").digest;
  plant(layout.source(url), cache::record_text(later));
  CHECK_FALSE(cache.source(url));
  // One's own takes its place then.
  cache.remember_source(record);
  CHECK(cache.source(url).value().fetched == record.fetched);
}

TEST_CASE("planted: a lower cache is believed as far as its owner has written it") {
  if (SharedCache::is_skipped()) return;
  SharedCache shared;
  const std::string url = "https://host.example/data";
  {
    auto cache = shared.open();
    cache.remember_source(
        source_of(url, put(cache, "data").digest, cache::SourceRecord::Kind::url));
  }
  const cache::Layout layout(shared.root());
  cache::Cache above(
      shared.home / "own", shared.home / "other-state", shared.clock, {{shared.root()}});
  CHECK(above.source(url));
  SharedCache::give(layout.source(url));
  CHECK_FALSE(above.source(url));
  REQUIRE(::chown(shared.root().c_str(), test::other_user, test::other_user) == 0);
  CHECK(cache::Cache(
            shared.home / "own", shared.home / "other-state", shared.clock, {{shared.root()}})
            .source(url));
}

#include "cache_home.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using namespace sabath;
using cache::Placement;
using test::CacheHome;
using test::entries_in;
using test::error_of;
using test::put;

namespace fs = std::filesystem;

namespace {

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("cache: an object is placed as reflink or read-only link, and it says which") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "content");
  const auto place = home / "run" / "inputs" / "data.bin";
  const Placement placement = cache.place(object, place);
  CHECK(base::read_file(place) == "content");
  CHECK(fs::is_symlink(place) == (placement == Placement::symlink));
  if (placement == Placement::symlink) {
    CHECK(fs::read_symlink(place) == object.path);
  } else {
    CHECK(placement == Placement::reflink);
    CHECK(mode_of(place) == 0444U);
  }
  CHECK(entries_in(place.parent_path()) == 1);
}

TEST_CASE("cache: a writable file is never a link to the object") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "content");
  const auto place = home / "copy.bin";
  const Placement placement = cache.place(object, place, true);
  CHECK(placement != Placement::symlink);
  CHECK(mode_of(place) == 0644U);
  base::write_file_atomically(home / "copy.bin", "changed");
  CHECK(base::read_file(object.path) == "content");
  CHECK(cache.find(object.digest));
}

TEST_CASE("cache: what stands at the destination is never replaced") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "content");
  const bool writable = GENERATE(true, false);
  base::write_file_atomically(home / "mine", "mine");
  const auto error = error_of([&] { cache.place(object, home / "mine", writable); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(base::read_file(home / "mine") == "mine");
  fs::create_symlink(home / "nowhere", home / "dangling");
  CHECK(error_of([&] { cache.place(object, home / "dangling", writable); }));
  CHECK_FALSE(fs::exists(home / "nowhere"));
}

TEST_CASE("cache: what an earlier placement put there stays") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "content");
  const bool is_file = GENERATE(true, false);
  fs::create_directories(home / "out");
  if (is_file)
    base::write_file_atomically(home / "out/file", "content");
  else
    cache.place(object, home / "out/file");
  const auto before = fs::last_write_time(home / "out/file");
  CHECK(cache.place(object, home / "out/file") == Placement::there);
  CHECK(fs::last_write_time(home / "out/file") == before);
  CHECK(error_of([&] { cache.place(object, home / "out/file", true); }));
  const auto other = put(cache, "CONTENT");
  CHECK(error_of([&] { cache.place(other, home / "out/file"); }));
}

TEST_CASE("cache: a placement follows links of this user, and no other user's") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "content");
  fs::create_directories(home / "private");
  fs::create_directories(home / "group");
  fs::create_directory_symlink(home / "private", home / "group/link");
  const fs::path file = home / "group/link/sub/file";
  const bool writable = GENERATE(true, false);
  const bool is_open = GENERATE(true, false);
  REQUIRE(::chmod((home / "group").c_str(), is_open ? 0777 : 0755) == 0);
  SECTION("own") {
    cache.place(object, file, writable);
    CHECK(base::read_file(home / "private/sub/file") == "content");
  }
  SECTION("another user's") {
    constexpr unsigned other_user = 65534;
    if (::lchown((home / "group/link").c_str(), other_user, other_user) != 0) return;
    if (!is_open) REQUIRE(::chown((home / "group").c_str(), other_user, other_user) == 0);
    const auto error = error_of([&] { cache.place(object, file, writable); });
    REQUIRE(error);
    CHECK(error->kind() == base::ErrorKind::storage);
    CHECK(std::string(error->what()).find("group/link: is a symbolic link") != std::string::npos);
    CHECK(entries_in(home / "private") == 0);
  }
}

TEST_CASE("cache: a copy of damaged bytes is not made") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  if (cache.place(object, home / "probe", true) == Placement::reflink) {
    WARN("skipped: files share their blocks here, nothing is copied");
    return;
  }
  test::overwrite(object.path, "wrong bytes");
  fs::create_directory(home / "out");
  const auto error = error_of([&] { cache.place(object, home / "out" / "file", true); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::integrity);
  CHECK(entries_in(home / "out") == 0);
}

TEST_CASE("cache: placements have names") {
  CHECK(cache::to_string(Placement::reflink) == "reflink");
  CHECK(cache::to_string(Placement::symlink) == "symlink");
  CHECK(cache::to_string(Placement::copy) == "copy");
}

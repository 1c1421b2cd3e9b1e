#include "cache_home.hpp"
#include "objects/file_status.hpp"

#include <sabath/base/process/stop_signal.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include <signal.h>

using namespace sabath;
using test::CacheHome;
using test::entries_in;
using test::error_of;
using test::overwrite;
using test::put;

namespace fs = std::filesystem;

TEST_CASE("cache: what was never published is absent") {
  CacheHome home;
  CHECK_FALSE(home.open().find(base::sha256_of("nothing")));
}

TEST_CASE("cache: a digest that is none leads to no path") {
  CacheHome home;
  auto cache = home.open();
  const std::string hex = GENERATE(std::string("../../../../etc/passwd"),
                                   std::string(),
                                   std::string(64, '.'),
                                   std::string(63, 'a'));
  const auto error = error_of([&] { cache.find({base::DigestAlgorithm::sha256, hex}); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::usage);
  CHECK(error_of([&] { cache.find_tree({base::DigestAlgorithm::sha256, hex}); }));
  CHECK(error_of([&] { cache.find({base::DigestAlgorithm::md5, std::string(32, 'a')}); }));
}

TEST_CASE("cache: the object that is there first stays") {
  CacheHome home;
  auto cache = home.open();
  const auto first = put(cache, "content");
  struct stat before {};
  REQUIRE(::stat(first.path.c_str(), &before) == 0);
  const auto second = put(cache, "content");
  struct stat after {};
  REQUIRE(::stat(second.path.c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: an object that was changed in place is absent and set aside") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  overwrite(object.path, "wrong bytes");
  CHECK_FALSE(cache.find(object.digest));
  CHECK_FALSE(fs::exists(object.path));
  REQUIRE(entries_in(home.root() / "damaged") == 1);
  CHECK(base::read_file(*fs::directory_iterator(home.root() / "damaged")) == "wrong bytes");
  CHECK(put(cache, "right bytes").digest == object.digest);
  CHECK(cache.find(object.digest));
}

TEST_CASE("cache: a change is noticed even when its time was put back") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  struct stat before {};
  REQUIRE(::stat(object.path.c_str(), &before) == 0);
  overwrite(object.path, "wrong bytes");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, object.path.c_str(), times, 0) == 0);
  struct stat after {};
  REQUIRE(::stat(object.path.c_str(), &after) == 0);
  REQUIRE(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
  REQUIRE(after.st_ino == before.st_ino);
  CHECK_FALSE(cache.find(object.digest));
}

TEST_CASE("cache: another file in an object's place is hashed") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  fs::remove(object.path);
  SECTION("with the right bytes it is taken") {
    base::write_file_atomically(object.path, "right bytes");
    CHECK(cache.find(object.digest));
  }
  SECTION("with wrong ones it is not") {
    base::write_file_atomically(object.path, "wrong bytes");
    CHECK_FALSE(cache.find(object.digest));
  }
  SECTION("a link is not an object") {
    base::write_file_atomically(home / "elsewhere", "right bytes");
    fs::create_symlink(home / "elsewhere", object.path);
    CHECK_FALSE(cache.find(object.digest));
    CHECK(base::read_file(home / "elsewhere") == "right bytes");
  }
  SECTION("a folder is not an object") {
    fs::create_directory(object.path);
    CHECK_FALSE(cache.find(object.digest));
  }
}

TEST_CASE("cache: publishing over a damaged object brings the right one") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "right bytes");
  overwrite(object.path, "wrong bytes");
  CHECK(base::read_file(put(cache, "right bytes").path) == "right bytes");
}

TEST_CASE("cache: who found an object right does not hash it again, others do") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "twelve bytes");
  CHECK(test::verify_one(home.open(), object.digest, false).bytes_hashed == 0);
  auto stranger = home.open_as_stranger();
  CHECK(test::verify_one(stranger, object.digest, false).bytes_hashed == 12);
  CHECK(test::verify_one(stranger, object.digest, false).bytes_hashed == 0);
  CHECK(test::verify_one(stranger, object.digest, true).bytes_hashed == 12);
}

TEST_CASE("cache: the memo is private, and one that others can write vouches for nothing") {
  CacheHome home;
  const auto digest = [&] {
    auto cache = home.open();
    return put(cache, "twelve bytes").digest;
  }();
  struct stat status {};
  REQUIRE(::stat((home.memo() / "memo").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0700U);
  for (const auto& file : fs::recursive_directory_iterator(home.memo())) {
    REQUIRE(::stat(file.path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0077U) == 0U);
  }
  CHECK(test::verify_one(home.open(), digest, false).bytes_hashed == 0);
  REQUIRE(::chmod((home.memo() / "memo").c_str(), 0777) == 0);
  CHECK(test::verify_one(home.open(), digest, false).bytes_hashed == 12);
}

TEST_CASE("cache: a note that was half written vouches for nothing") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "twelve bytes");
  std::vector<fs::path> notes;
  for (const auto& file : fs::recursive_directory_iterator(home.memo())) {
    if (file.is_regular_file()) notes.push_back(file.path());
  }
  REQUIRE(notes.size() == 1);
  const auto length = fs::file_size(notes.front());
  fs::resize_file(notes.front(), GENERATE(0U, 1U) * (length - 1));
  CHECK(test::verify_one(cache, object.digest, false).bytes_hashed == 12);
  CHECK(test::verify_one(cache, object.digest, false).bytes_hashed == 0);
}

TEST_CASE("cache: without a place for the memo everything works and is hashed") {
  CacheHome home;
  base::write_file_atomically(home / "state", "a file where the folder should be");
  auto cache = home.open();
  const auto object = put(cache, "twelve bytes");
  CHECK(cache.find(object.digest));
  CHECK(test::verify_one(cache, object.digest, false).bytes_hashed == 12);
}

TEST_CASE("object: a signal ends the hashing of a large file") {
  test::TempHome home;
  base::write_file_atomically(home / "small", "12");
  base::write_file_atomically(home / "large", "");
  std::filesystem::resize_file(home / "large", std::uintmax_t{1} << 40U);
  const base::StopSignal signal;
  ::raise(SIGTERM);
  while (!base::stop_was_requested())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(cache::hash_file(home / "small").digest == base::sha256_of("12"));
  const auto error = error_of([&] { cache::hash_file(home / "large"); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::interrupted);
}

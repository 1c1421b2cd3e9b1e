#include "cache_home.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <thread>

#include <sys/stat.h>

using namespace sabath;
using test::CacheHome;
using test::overwrite;
using test::put;

namespace fs = std::filesystem;

namespace {

fs::path file_of(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  base::write_file_atomically(path, content, base::Durability::ordered_only);
  return path;
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

bool is_one(const fs::path& a, const fs::path& b) {
  return status_of(a).st_ino == status_of(b).st_ino;
}

const base::Digest digest = base::sha256_of("content");

/// As somebody who has hashed the file at this moment.
std::optional<std::string> share(cache::Cache& cache, const fs::path& file, bool durable) {
  return cache.share(file, base::sha256_of(base::read_file(file)), status_of(file), durable);
}

}  // namespace

TEST_CASE("cache: a file that is shared becomes the object, and later ones take its inode") {
  CacheHome home;
  auto cache = home.open();
  const bool durable = GENERATE(false, true);
  const fs::path first = file_of(home / "runs/1/x", "content");
  const auto inode = status_of(first).st_ino;
  CHECK_FALSE(share(cache, first, durable));
  const auto object = cache.find(digest);
  REQUIRE(object);
  CHECK(status_of(object->path).st_ino == inode);
  CHECK((status_of(first).st_mode & 0777) == 0444);
  const fs::path second = file_of(home / "runs/2/x", "content");
  CHECK_FALSE(share(cache, second, durable));
  CHECK(is_one(first, second));
  CHECK_FALSE(share(cache, second, durable));
  const fs::path third = home / "runs/3/x";
  fs::create_directories(third.parent_path());
  CHECK_FALSE(cache.link(digest, third));
  CHECK_FALSE(cache.link(digest, third));
  CHECK(status_of(third).st_nlink == 4);
  CHECK(test::entries_in(home / "runs/3") == 1);
}

TEST_CASE("cache: a file of the bytes of a published object takes that one's inode") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "content");
  const fs::path file = file_of(home / "x", "content");
  CHECK_FALSE(share(cache, file, false));
  CHECK(is_one(file, object.path));
}

TEST_CASE("cache: a new name of an object costs no hashing") {
  CacheHome home;
  auto cache = home.open();
  put(cache, "content");
  CHECK_FALSE(share(cache, file_of(home / "x", "content"), false));
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 0);
  // That a name is gone cannot be told from other changes. (Times of files move in steps.)
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  fs::remove(home / "x");
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 7);
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 0);
}

TEST_CASE("cache: a shared file that nobody waited for is hashed before its first use") {
  CacheHome home;
  auto cache = home.open();
  const fs::path file = file_of(home / "x", "content");
  CHECK_FALSE(share(cache, file, false));
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 7);
  CHECK_FALSE(share(cache, file_of(home / "y", "durable"), true));
  CHECK(test::verify_one(cache, base::sha256_of("durable"), false).bytes_hashed == 0);
}

TEST_CASE("cache: who writes to a shared file nevertheless harms no other user of the cache") {
  CacheHome home;
  auto cache = home.open();
  const fs::path file = file_of(home / "x", "content");
  const bool durable = GENERATE(false, true);
  CHECK_FALSE(share(cache, file, durable));
  overwrite(file, "CONTENT");
  CHECK_FALSE(cache.find(digest));
  const fs::path again = file_of(home / "y", "content");
  CHECK_FALSE(share(cache, again, durable));
  CHECK(base::read_file(cache.find(digest)->path) == "content");
  CHECK(base::read_file(file) == "CONTENT");
}

TEST_CASE("cache: what cannot be shared is left as it is, with the reason") {
  CacheHome home;
  auto cache = home.open();
  const fs::path file = file_of(home / "x", "content");
  std::string expected;
  SECTION("a program") {
    REQUIRE(::chmod(file.c_str(), 0755) == 0);
    expected = "it is executable, and objects are not";
  }
  SECTION("a file with a second name") {
    fs::create_hard_link(file, home / "y");
    expected = "it has other names, through which it could change";
  }
  SECTION("a link") {
    fs::rename(file, home / "y");
    fs::create_symlink("y", file);
    expected = "it is not a regular file";
  }
  const auto mode = status_of(file).st_mode;
  CHECK(cache.share(file, digest, status_of(file), false) == expected);
  CHECK(status_of(file).st_mode == mode);
  CHECK_FALSE(cache.find(digest));
}

TEST_CASE("cache: a file on another file system is not shared, whether there is an object or not") {
  CacheHome home;
  auto cache = home.open();
  struct stat here {};
  struct stat there {};
  REQUIRE(::stat(home.memo().parent_path().c_str(), &here) == 0);
  if (::stat("/dev/shm", &there) != 0 || here.st_dev == there.st_dev) {
    WARN("there is no second file system here");
    return;
  }
  const base::TempDir other("/dev/shm");
  const fs::path file = file_of(other.path() / "x", "content");
  const bool present = GENERATE(false, true);
  if (present) put(cache, "content");
  CHECK(share(cache, file, false) == "it lies on another file system than the cache");
  CHECK((status_of(file).st_mode & 0200) != 0);
  CHECK(test::entries_in(other.path()) == 1);
}

TEST_CASE("cache: a file that was changed since it was hashed becomes no object") {
  CacheHome home;
  auto cache = home.open();
  const bool durable = GENERATE(false, true);
  const bool present = GENERATE(false, true);
  const fs::path file = file_of(home / "x", "content");
  const struct stat hashed = status_of(file);
  if (present) put(cache, "content");
  overwrite(file, "CONTENT");
  const auto mode = status_of(file).st_mode;
  CHECK(cache.share(file, digest, hashed, durable) == "it was changed after it was hashed");
  CHECK(base::read_file(file) == "CONTENT");
  CHECK(status_of(file).st_mode == mode);
  CHECK(cache.find(digest).has_value() == present);
  CHECK_FALSE(cache.find(base::sha256_of("CONTENT")));
}

TEST_CASE("cache: no object vouches for what is written while the file becomes one", "[long]") {
  CacheHome home;
  auto cache = home.open();
  int kept = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string content = "content " + std::to_string(round);
    const base::Digest wanted = base::sha256_of(content);
    const fs::path file = file_of(home / std::to_string(round), content);
    std::ofstream writer(file, std::ios::app);                   // before it is read-only
    std::this_thread::sleep_for(std::chrono::milliseconds(12));  // times of files move in steps
    const struct stat hashed = status_of(file);
    std::jthread other([&, pause = std::chrono::microseconds(round * 20)] {
      std::this_thread::sleep_for(pause);
      writer << "more" << std::flush;
    });
    if (!cache.share(file, wanted, hashed, true)) ++kept;
    other.join();
    const auto object = cache.find(wanted);
    CHECK((!object || base::sha256_of(base::read_file(object->path)) == wanted));
  }
  CAPTURE(kept);
  CHECK(base::read_file(home / "7").ends_with("more"));
}

TEST_CASE("cache: only an object of this cache gets another name") {
  CacheHome home;
  auto cache = home.open();
  CHECK(cache.link(digest, home / "x") == "the object is gone");
  CHECK_FALSE(fs::exists(home / "x"));
  put(cache, "content");
  file_of(home / "x", "of an earlier attempt");
  CHECK_FALSE(cache.link(digest, home / "x"));
  CHECK(base::read_file(home / "x") == "content");
}

// A cache that its group may write.
#include "cache_home.hpp"
#include "support/child.hpp"

#include <sabath/base/unique_fd.hpp>
#include <sabath/cache/cache_maintenance.hpp>

#include <cache/layout.hpp>
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using test::Child;
using test::put;

namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("shared: folders are the group's whatever the umask, and files are read-only") {
  test::TempHome home;
  base::SystemClock clock;
  const mode_t before = ::umask(GENERATE(0077U, 0002U, 0022U));
  {
    cache::Cache cache(home / "cache", home / "state", clock, {{}, true});
    CHECK(cache.is_shared());
    const auto object = put(cache, "twelve bytes");
    cache.publish_tree({{"x", object}});
    cache.remember_source(
        {.url = "https://host.example/x", .digest = object.digest, .size_bytes = 12});
    CHECK(cache.find(object.digest));
    CHECK(mode_of(object.path) == 0444);
  }
  ::umask(before);
  for (const char* const folder : {"", "objects", "objects/sha256", "trees", "sources", "used"})
    CHECK((mode_of(home / "cache" / folder) & 02775U) == 02775U);
  CHECK(mode_of(*fs::directory_iterator(home / "cache/sources")) == 0644);
  // Later ones open it as it is.
  CHECK(cache::Cache(home / "cache", home / "state", clock).is_shared());
}

TEST_CASE("shared: a cache is the owner's alone unless it was asked for") {
  test::TempHome home;
  base::SystemClock clock;
  cache::Cache cache(home / "cache", home / "state", clock);
  CHECK_FALSE(cache.is_shared());
  // What exists is not changed.
  CHECK_FALSE(cache::Cache(home / "cache", home / "state", clock, {{}, true}).is_shared());
  CHECK((mode_of(home / "cache") & 02020U) == 0);
}

TEST_CASE("shared: what another member left unfinished is his") {
  if (::geteuid() != 0) return;
  test::TempHome home;
  base::SystemClock clock;
  cache::Cache cache(home / "cache", home / "state", clock, {{}, true});
  const auto expected = base::sha256_of("content");
  const fs::path theirs = home / "cache/partial" / expected.hex / "left.0123";
  fs::create_directories(theirs);
  base::write_file_atomically(theirs / "data", "cont");
  REQUIRE(::chown(theirs.c_str(), 65534, 65534) == 0);
  CHECK(cache.open_partial(expected.hex, {expected})->present_bytes() == 0);
  CHECK(fs::exists(theirs / "data"));
}

TEST_CASE("shared: an interrupted download counts for its own key alone") {
  const bool is_shared = GENERATE(true, false);
  test::TempHome home;
  base::SystemClock clock;
  cache::Cache cache(home / "cache", home / "state", clock, {{}, is_shared});
  const cache::Layout layout(home / "cache");
  const fs::path one = layout.partial("one");
  const fs::path other = layout.partial("other");
  cache.open_partial("one")->write_at(0, base::as_bytes("1"));
  cache.open_partial("other")->write_at(0, base::as_bytes("22"));
  CHECK(cache.open_partial("other")->present_bytes() == 2);
  // Another member may rename both.
  fs::rename(one, home / "cache/partial/x");
  fs::rename(other, one);
  fs::rename(home / "cache/partial/x", other);
  CHECK(cache.open_partial("one")->present_bytes() == 0);
  CHECK(cache.open_partial("other")->present_bytes() == 0);
}

TEST_CASE("shared: another member of the group adds, uses and pins, and hashes what he finds") {
  if (::geteuid() != 0) return;
  test::TempHome home;
  REQUIRE(::chmod(home.path().c_str(), 0755) == 0);
  base::SystemClock clock;
  base::SilentObserver observer;
  const gid_t group = 65534;
  base::Digest digest;
  {
    cache::Cache cache(home / "cache", home / "state", clock, {{}, true});
    REQUIRE(::chown((home / "cache").c_str(), 0, group) == 0);
    REQUIRE(::chmod((home / "cache").c_str(), 02775) == 0);
    digest = put(cache, "twelve bytes").digest;
    REQUIRE(cache.find(digest));
  }
  fs::create_directory(home / "theirs");
  REQUIRE(::chown((home / "theirs").c_str(), 65534, group) == 0);
  Child other([&]() -> std::string {
    if (::setgid(group) != 0 || ::setuid(65534) != 0) return "cannot become another";
    cache::Cache cache(home / "cache", home / "theirs/state", clock);
    if (test::verify_one(cache, digest, false).bytes_hashed != 12) return "did not hash";
    if (!cache.find(digest)) return "not found";
    put(cache, "of another");
    cache::CacheMaintenance maintenance(home / "cache", home / "theirs/state", clock);
    maintenance.pin({"x", "", "", "", {digest}});
    const auto report = maintenance.collect({{}, {}, std::chrono::seconds(0), false}, observer);
    return report.kept.contains("another user's") || report.kept.contains("pinned") ? ""
                                                                                    : "took it";
  });
  CHECK(other.wait() == "");
  cache::Cache cache(home / "cache", home / "state", clock);
  CHECK(cache.find(digest));
  CHECK(cache.find(base::sha256_of("of another")));
}

TEST_CASE("shared: an object of a member who is not trusted is hashed at each use") {
  if (::geteuid() != 0) return;
  test::TempHome home;
  base::SystemClock clock;
  base::Digest digest;
  fs::path object;
  {
    cache::Cache cache(home / "cache", home / "state", clock, {{}, true});
    const auto put_object = put(cache, "twelve bytes");
    digest = put_object.digest;
    object = put_object.path;
    cache.publish_tree({{"x", put_object}});
  }
  const uid_t member = 65534;
  REQUIRE(::chown(object.c_str(), member, member) == 0);
  // A page that is dirty already is written to without a change of the file's times.
  REQUIRE(::chmod(object.c_str(), 0644) == 0);
  const base::UniqueFd fd(::open(object.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(fd);
  void* const mapped = ::mmap(nullptr, 12, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  REQUIRE(mapped != MAP_FAILED);
  auto* const bytes = static_cast<volatile char*>(mapped);
  bytes[0] = 't';
  REQUIRE(::chmod(object.c_str(), 0444) == 0);
  cache::Cache cache(home / "cache", home / "other-state", clock);
  CHECK(cache.find(digest));
  CHECK(test::verify_one(cache, digest, false).bytes_hashed == 12);
  cache::Cache trusting(
      home / "cache", home / "trusting-state", clock, {.trust = {.owners = {member}}});
  CHECK(trusting.find(digest));
  CHECK(test::verify_one(trusting, digest, false).bytes_hashed == 0);
  bytes[0] = 'T';
  CHECK_FALSE(cache.find(digest));
  ::munmap(mapped, 12);
}

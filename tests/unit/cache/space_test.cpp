#include "cache_home.hpp"
#include "support/child.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/cache/cache_maintenance.hpp>

#include <catch2/catch.hpp>
#include <sched.h>

#include <functional>

#include <sys/mount.h>
#include <unistd.h>

using namespace sabath;
using base::as_bytes;
using base::ErrorKind;
using test::CacheHome;
using test::Child;
using test::entries_in;
using test::error_of;
using test::put;

namespace fs = std::filesystem;

namespace {

const std::string cannot_mount = "cannot mount";

bool write_to(const char* path, const std::string& text) {
  const base::UniqueFd fd(::open(path, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A mount namespace of our own, so that what is mounted goes with the process.
bool may_mount() {
  const std::string uid = std::to_string(::getuid());
  const std::string gid = std::to_string(::getgid());
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!write_to("/proc/self/setgroups", "deny") ||
        !write_to("/proc/self/uid_map", "0 " + uid + " 1") ||
        !write_to("/proc/self/gid_map", "0 " + gid + " 1")) {
      return false;
    }
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// Runs `work` in a process of its own after `mount`; says so where mounting is not allowed.
void run_mounted(const std::function<bool()>& mount, const std::function<std::string()>& work) {
  Child child([&]() -> std::string { return may_mount() && mount() ? work() : cannot_mount; });
  const std::string outcome = child.wait();
  if (outcome == cannot_mount) {
    WARN("skipped: nothing can be mounted here");
    return;
  }
  INFO(outcome);
  CHECK(outcome.empty());
}

void on_small_file_system(const fs::path& folder, const std::function<std::string()>& work) {
  fs::create_directories(folder);
  run_mounted([&] { return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0; }, work);
}

/// Until nothing more fits, neither a byte nor a file.
void fill_up(const fs::path& folder) {
  fs::create_directories(folder);
  for (int number = 0;; ++number) {
    const fs::path file = folder / std::to_string(number);
    const base::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) return;
    const std::string block(4096, 'x');
    while (::write(fd.get(), block.data(), block.size()) > 0) {
    }
  }
}

void on_read_only_file_system(const fs::path& folder, const std::function<std::string()>& work) {
  run_mounted(
      [&] {
        const char* path = folder.c_str();
        return ::mount(path, path, nullptr, MS_BIND, nullptr) == 0 &&
               ::mount("none", path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
      },
      work);
}

std::string expect_full(const std::optional<base::Error>& error, const std::string& root) {
  if (!error) return "no error";
  const std::string what = error->what();
  if (error->kind() != ErrorKind::storage) return "wrong kind: " + what;
  if (what.find(root) == std::string::npos) return "no place: " + what;
  if (what.find("No space left") == std::string::npos) return "no cause: " + what;
  if (what.find("are free") == std::string::npos) return "not what is free: " + what;
  if (error->hint().find("SABATH_CACHE") == std::string::npos) return "no hint: " + error->hint();
  return {};
}

}  // namespace

TEST_CASE("cache: a full disk says what was needed and what is free, and nothing is published") {
  CacheHome home;
  on_small_file_system(home.root(), [&]() -> std::string {
    auto cache = home.open();
    auto partial = cache.open_partial("reserved");
    std::string problem =
        expect_full(error_of([&] { partial->reserve(8U << 20U); }), home.root().string());
    if (!problem.empty()) return "reserve: " + problem;
    partial.reset();
    const std::string content(4U << 20U, 'x');
    const base::Digest wanted = base::sha256_of(content);
    partial = cache.open_partial("written", {wanted});
    problem = expect_full(error_of([&] {
                            for (std::size_t at = 0; at < content.size(); at += 65536)
                              partial->write_at(at, as_bytes(content).subspan(at, 65536));
                          }),
                          home.root().string());
    if (!problem.empty()) return "write: " + problem;
    const auto kept = partial->contiguous_bytes();
    partial.reset();
    base::SilentObserver observer;
    const auto report = cache.verify(true, observer);
    if (report.objects != 0 || !report.damaged.empty()) return "something was published";
    const auto adopted = cache.open_partial("written", {wanted})->contiguous_bytes();
    return adopted == kept && kept > 0 ? "" : "what was there cannot be gone on with";
  });
}

TEST_CASE("cache: a disk that is full of files says so when an object is put") {
  CacheHome home;
  base::write_file_atomically(home / "big", std::string(3U << 20U, 'x'));
  on_small_file_system(home.root(), [&]() -> std::string {
    auto cache = home.open();
    std::string problem =
        expect_full(error_of([&] { cache.publish_file(home / "big"); }), home.root().string());
    if (!problem.empty()) return problem;
    if (entries_in(home.root() / "partial") > 1) return "a partial remains";
    put(cache, "small enough");
    return {};
  });
}

TEST_CASE("gc: on a file system that is really full it makes room, again and again") {
  CacheHome home;
  const bool was_collected = GENERATE(false, true);
  CAPTURE(was_collected);
  fs::create_directories(home / "small");
  const fs::path root = home / "small/cache";
  const auto mount = [&] {
    return ::mount("tmpfs", (home / "small").c_str(), "tmpfs", 0, "size=1m,nr_inodes=200") == 0;
  };
  run_mounted(mount, [&]() -> std::string {
    base::SystemClock clock;
    base::SilentObserver observer;
    const auto collect = [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return cache::CacheMaintenance(root, home.memo(), clock)
          .collect({{}, {}, std::chrono::seconds(0), false}, observer);
    };
    { cache::Cache(root, home.memo(), clock); }
    // The first collection leaves the folder that the next one needs on a full file system.
    if (was_collected) collect();
    for (int round = 0; round < 3; ++round) {
      {
        cache::Cache cache(root, home.memo(), clock);
        const auto object = put(cache, std::string(100'000, 'a'));
        cache.publish_tree({{"in/a", object}, {"b", put(cache, "b")}});
      }
      fill_up(home / "small/else");
      if (::mkdir((home / "small/no").c_str(), 0755) == 0) return "it is not full";
      const auto report = collect();
      const bool is_gone =
          report.removed.size() == 3 &&
          cache::CacheMaintenance(root, home.memo(), clock).inventory(observer).stored.empty();
      // A cache that never collected has no such folder, and says so.
      const bool is_said = report.removed.empty() &&
                           report.kept.begin()->first.find("No space left") != std::string::npos;
      if (!is_gone && (was_collected || round > 0 || !is_said)) {
        std::string problem = "removed " + std::to_string(report.removed.size());
        for (const auto& [reason, kept] : report.kept)
          problem += ", kept: " + reason;
        return problem;
      }
      fs::remove_all(home / "small/else");
      collect();
    }
    return {};
  });
}

TEST_CASE("cache: what is given up keeps only the space of its bytes") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->reserve(8U << 20U);
  partial->write_at(0, as_bytes("little"));
  partial.reset();
  CHECK(cache.partial_bytes("key") > 0);
  CHECK(cache.partial_bytes("key") < 1U << 20U);
  CHECK(cache.partial_bytes("another key") == 0);
}

TEST_CASE("cache: there is room for nothing more than the disk has, in bytes and in files") {
  CacheHome home;
  on_small_file_system(home.root(), [&]() -> std::string {
    auto cache = home.open();
    cache.check_space(512U << 10U, 10);
    const auto root = home.root().string();
    std::string problem = expect_full(error_of([&] { cache.check_space(2U << 20U, 1); }), root);
    if (!problem.empty()) return "bytes: " + problem;
    const auto error = error_of([&] { cache.check_space(0, 1U << 30U); });
    problem = expect_full(error, root);
    if (!problem.empty()) return "files: " + problem;
    return std::string(error->what()).find("1073741824 files") == std::string::npos ? error->what()
                                                                                    : "";
  });
}

TEST_CASE("cache: a size that no file can have is refused, not wrapped around") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  const auto error = error_of([&] { partial->reserve(~std::uint64_t{0}); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::storage);
  CHECK(error_of([&] { partial->write_at(~std::uint64_t{0} - 2, as_bytes("abcd")); }));
  CHECK(partial->contiguous_bytes() == 0);
}

TEST_CASE("cache: what was reserved and not needed is given back") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->reserve(8U << 20U);
  CHECK(cache.partial_bytes("key") >= 8U << 20U);
  partial->reserve(6);
  partial->write_at(0, as_bytes("little"));
  const auto object = cache.publish(std::move(partial), {});
  struct stat status {};
  REQUIRE(::stat(object.path.c_str(), &status) == 0);
  CHECK(status.st_size == 6);
  CHECK(status.st_blocks * 512 < (1 << 20));
}

TEST_CASE("cache: one that may only be read gives what it has, and says why it takes nothing") {
  CacheHome home;
  const auto object = [&] {
    auto cache = home.open();
    return put(cache, "content");
  }();
  on_read_only_file_system(home.root(), [&]() -> std::string {
    auto cache = home.open_as_stranger();
    if (!cache.find(object.digest)) return "what is there is not found";
    cache.place(object, home / "out");
    for (const auto& write : std::vector<std::function<void()>>{
             [&] { put(cache, "new"); },
             [&] {
               cache.publish_tree({{"a", object}});
             },
             [&] {
               cache.remember_stage({"key", "run", "host", "now", {}});
             },
             [&] {
               cache.remember_source(
                   {.url = "https://host/a", .digest = object.digest, .size_bytes = 1});
             }}) {
      const auto error = error_of(write);
      if (!error) return "something was written";
      if (error->kind() != ErrorKind::storage) return std::string("kind: ") + error->what();
      if (error->hint().find("SABATH_CACHE") == std::string::npos) return "hint: " + error->hint();
    }
    return {};
  });
}

TEST_CASE("cache: a damaged object in a cache that may only be read is absent") {
  CacheHome home;
  const auto object = [&] {
    auto cache = home.open();
    return put(cache, "right bytes");
  }();
  test::overwrite(object.path, "wrong bytes");
  on_read_only_file_system(home.root(), [&]() -> std::string {
    auto cache = home.open();
    return cache.find(object.digest) ? "it is found" : "";
  });
}

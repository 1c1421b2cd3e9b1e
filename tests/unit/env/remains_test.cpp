// What is left where a process was killed, and what only looks like that.
#include "env/store/key_folder.hpp"
#include "env/store/request_folder.hpp"
#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace sabath;

namespace {

void make_old(const fs::path& path, std::chrono::hours age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

std::size_t folders_in(const fs::path& root) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(root), fs::directory_iterator()));
}

/// A process that works in a folder of its own until it is killed.
class Worker {
 public:
  Worker(const fs::path& root, const fs::path& mark) : pid_(::fork()) {
    if (pid_ == 0) {
      const env::RequestFolder own(root, base::SystemClock().now());
      base::write_file_atomically(own.path() / "wheel.whl", "many bytes");
      base::write_file_atomically(mark, own.path().string());
      ::pause();
      ::_exit(0);
    }
    for (int tries = 0; tries < 1000 && !fs::exists(mark); ++tries)
      ::usleep(10'000);
    folder = base::read_file(mark);
  }
  ~Worker() { kill(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  fs::path folder{};

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("remains: the folder of a request that was killed goes with the next one") {
  const test::TempHome home;
  const fs::path root = home / "envs";
  const auto now = base::SystemClock().now();
  Worker killed(root, home / "a");
  const Worker living(root, home / "b");
  CHECK(env::abandoned_request_folders(root, now).empty());
  killed.kill();
  CHECK(env::abandoned_request_folders(root, now) == std::vector{killed.folder});
  {
    const env::RequestFolder next(root, now);
    CHECK_FALSE(fs::exists(killed.folder));
    CHECK(fs::exists(living.folder / "wheel.whl"));
    CHECK(folders_in(root) == 2);
  }
  CHECK(folders_in(root) == 1);
}

TEST_CASE("remains: a folder of a request that nobody can vouch for is believed for a while") {
  const test::TempHome home;
  const auto now = base::SystemClock().now();
  const fs::path folder = home / ".request-abc";
  fs::create_directory(folder);
  SECTION("it names no process") {
    make_old(folder, std::chrono::hours(23));
    CHECK(env::abandoned_request_folders(home.path(), now).empty());
    make_old(folder, std::chrono::hours(25));
  }
  SECTION("its process is on another host") {
    auto process = base::ProcessIdentity::current();
    process.host = "0123456789abcdef";
    const fs::path file = folder / ".process";
    base::write_file_atomically(file, process.text());
    make_old(folder, std::chrono::hours(300));
    make_old(file, std::chrono::hours(24 * 6));
    CHECK(env::abandoned_request_folders(home.path(), now).empty());
    make_old(file, std::chrono::hours(24 * 8));
  }
  CHECK(env::abandoned_request_folders(home.path(), now) == std::vector{folder});
}

TEST_CASE("remains: attempts that wrote down nothing and unfinished images go after a day") {
  test::EnvWorkshop shop;
  shop.write("code/Makefile", test::script_makefile());
  spec::EnvironmentSpec spec{{}, {test::source_layer("make")}};
  const fs::path prefix = *shop.build(spec).prefix();
  const fs::path key = prefix.parent_path().parent_path();
  const env::EnvironmentLease lease(*shop.find(spec));
  const fs::path nameless = env::KeyFolder(key).begin().path;
  const fs::path packing = prefix.parent_path() / ".pack-abc";
  fs::create_directory(packing);
  make_old(key / "leases", std::chrono::hours(100));
  make_old(prefix.parent_path(), std::chrono::hours(100));
  CHECK(shop.store().leftovers().empty());

  make_old(nameless, std::chrono::hours(25));
  make_old(packing, std::chrono::hours(25));
  auto found = shop.store().leftovers();
  std::sort(found.begin(), found.end());
  std::vector<fs::path> wanted{nameless, packing};
  std::sort(wanted.begin(), wanted.end());
  CHECK(found == wanted);

  // The next build of the key removes them, too: here one that is wanted since a library has gone.
  SECTION("a record of a newer sabath is no remains") {
    base::write_file_atomically(nameless / "record.json", "{\"schema\": 2}");
    make_old(nameless, std::chrono::hours(25));
    CHECK(shop.store().leftovers() == std::vector{packing});
  }
  SECTION("a build removes them") {
    fs::remove(key / "current");
    shop.build(spec);
    CHECK_FALSE(fs::exists(nameless));
    CHECK_FALSE(fs::exists(packing));
    CHECK(fs::exists(key / "leases"));
    CHECK(fs::exists(prefix));
  }
}

TEST_CASE("remains: a prefix whose Python this user may not execute is not ready") {
  test::EnvWorkshop shop;
  const fs::path python = shop.home / "python3";
  base::write_file_atomically(python, "", base::Durability::ordered_only, 0755);
  const env::KeyFolder key(shop.home / "key");
  const env::AttemptFolder attempt = key.begin();
  env::AttemptRecord record;
  record.state = "ready";
  record.builder = base::ProcessIdentity::current();
  record.started = "2026-01-01T00:00:00Z";
  record.layer.lock.name = "python";
  record.layer.lock.kind = spec::LayerKind::pip;
  record.layer.prefix = attempt.prefix().string();
  record.present["python.executable"] = python.string();
  env::write_attempt_record(attempt.record(), record);
  REQUIRE(key.publish(attempt));
  REQUIRE(key.ready());
  // Nobody's, not even root's.
  fs::permissions(python, fs::perms::owner_read | fs::perms::others_read);
  CHECK_FALSE(key.ready());
  CHECK(env::missing_library(record.present) == python.string());
  fs::permissions(python, fs::perms(0755));
  CHECK(key.ready());
  fs::remove(python);
  CHECK_FALSE(key.ready());
}

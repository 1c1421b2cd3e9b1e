#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/probe/open_watch.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/fanotify.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::test;
namespace fs = std::filesystem;

namespace {

/// Does the kernel report opens to this user?
bool kernel_reports() {
  const int fd = ::fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

/// Runs a line of shell as stage "go".
void run(const std::string& line, probe::OpenWatch& watch, bool with_looks = false) {
  base::Command command;
  command.argv = {"sh", "-c", line};
  std::jthread looking;
  command.on_start = [&](int pid) {
    watch.begin("go", pid);
    if (!with_looks) return;
    looking = std::jthread([&watch, pid](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        watch.look_at(pid, "go");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  };
  base::SystemProcessRunner().run(command, {});
  watch.end("go");
}

const probe::SeenOpen* find(const probe::SeenOpens& seen, const fs::path& path) {
  const auto found = std::find_if(seen.files.begin(), seen.files.end(), [&](const auto& file) {
    return file.path == path.string();
  });
  return found == seen.files.end() ? nullptr : &*found;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("opens: the kernel reports what a stage's processes open, and not what others do") {
  if (!kernel_reports()) {
    WARN("SKIPPED: the kernel reports opens to root only");
    return;
  }
  const TempHome home;
  for (const char* name : {"read", "by-grandchild", "by-daemon", "stranger", "known"})
    base::write_file_once(home / name, "1\n");
  const std::string at = home.path().string() + "/";
  probe::OpenWatch watch({.is_known = [&](const std::string& path) {
    return path.ends_with("/known") || path.starts_with("/usr/");
  }});
  base::read_file(home / "stranger");
  run("cat " + at + "read " + at + "known; (sh -c 'read x <" + at +
          "by-grandchild'); (setsid sh -c 'sleep 0.1; read x <" + at + "by-daemon' &); sleep 0.3",
      watch);
  const auto seen = watch.finish();
  CHECK(seen.method == "fanotify");
  for (const char* name : {"read", "by-grandchild"}) {
    INFO(name);
    const auto* file = find(seen, home / name);
    REQUIRE(file != nullptr);
    CHECK(file->stages == std::set<std::string>{"go"});
    CHECK(file->stamp.size_bytes == 2);
  }
  CHECK(find(seen, home / "by-daemon") != nullptr);
  CHECK(find(seen, home / "stranger") == nullptr);
  CHECK(find(seen, home / "known") == nullptr);
}

TEST_CASE("opens: without the kernel's reports descriptors are looked at") {
  const TempHome home;
  base::write_file_once(home / "held", "1\n");
  base::write_file_once(home / "short", "1\n");
  const std::string at = home.path().string() + "/";
  probe::OpenWatch watch({.may_ask_kernel = false});
  run("exec 3<" + at + "held; sleep 0.5", watch, true);
  const auto seen = watch.finish();
  CHECK(seen.method == "sampling");
  CHECK(seen.notes.empty());
  const auto* file = find(seen, home / "held");
  REQUIRE(file != nullptr);
  CHECK(file->stages == std::set<std::string>{"go"});
}

TEST_CASE("opens: a stage that is told of after its process began is known by it all the same") {
  if (!kernel_reports()) return;
  const TempHome home;
  base::write_file_once(home / "early", "1\n");
  probe::OpenWatch watch({});
  base::Command command;
  command.argv = {"cat", (home / "early").string()};
  int its_pid = 0;
  command.on_start = [&](int pid) { its_pid = pid; };
  base::SystemProcessRunner().run(command, {});
  watch.begin("late", its_pid);
  watch.end("late");
  const auto seen = watch.finish();
  const auto* file = find(seen, home / "early");
  REQUIRE(file != nullptr);
  CHECK(file->stages == std::set<std::string>{"late"});
}

TEST_CASE("opens: reading reports takes no more than its share") {
  if (!kernel_reports()) return;
  const TempHome home;
  base::write_file_once(home / "much", "1\n");
  const auto begin = std::chrono::steady_clock::now();
  probe::OpenWatch watch({});
  run("i=0; while [ $i -lt 20000 ]; do read x <" + (home / "much").string() +
          "; read x </etc/hostname; i=$((i+1)); done",
      watch);
  const auto seen = watch.finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  INFO("took " << took.count() << " s, " << seen.cpu_s << " s of CPU time");
  // The rest of the queue is read at the end, for as long as the allowance.
  CHECK(seen.cpu_s < 0.025 + 0.01 * took.count());
  CHECK(find(seen, home / "much") != nullptr);
}

TEST_CASE("opens: nothing is left behind, and without a stage there is nothing") {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    probe::OpenWatch watch({});
    CHECK(watch.finish().files.empty());
  }
  { const probe::OpenWatch never_finished({}); }
  CHECK(open_descriptors() == before);
}

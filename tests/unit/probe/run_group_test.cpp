#include "probe/watch/cgroup.hpp"
#include "support/fake_host.hpp"

#include <sabath/probe/run_group.hpp>
#include <sabath/probe/sampler.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using namespace std::chrono_literals;
using sabath::test::FakeHost;
namespace fs = std::filesystem;

namespace {

/// This process is in /user/app; whatever is made stands in a plain folder.
void put_groups(const FakeHost& host) {
  host.put("proc/self/cgroup", "0::/user/app\n");
  host.put("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  host.put("sys/fs/cgroup/user/cgroup.procs", "");
  host.put("sys/fs/cgroup/user/app/cgroup.procs", "");
}

std::string named(const std::string& run) {
  return "sabath-" + run + "-" + std::to_string(::getpid());
}

base::Command shell(const std::string& script, const fs::path& group) {
  base::Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.control_group = group;
  return command;
}

}  // namespace

TEST_CASE("run group: it is made beneath this process's, or beside it where more is counted") {
  const FakeHost host;
  put_groups(host);
  const auto own = host.root() / "sys/fs/cgroup/user/app" / named("x");
  SECTION("nothing is counted anywhere") {
    const probe::RunGroup group("x", host.root());
    CHECK(group.path() == own);
    CHECK(fs::is_directory(own));
  }
  SECTION("as with a user's own systemd") {
    host.put("sys/fs/cgroup/user/cgroup.subtree_control", "cpu memory pids\n");
    const probe::RunGroup group("x", host.root());
    CHECK(group.path() == host.root() / "sys/fs/cgroup/user" / named("x"));
  }
  CHECK_FALSE(fs::exists(own));
  CHECK_FALSE(fs::exists(host.root() / "sys/fs/cgroup/user" / named("x")));
}

TEST_CASE("run group: where none may be made there is none, and nothing breaks") {
  const FakeHost host;
  SECTION("no control groups") {}
  SECTION("of version 1 only") {
    host.put("proc/self/cgroup", "4:memory:/job\n");
    host.put("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n");
  }
  SECTION("not shown") {
    host.put("proc/self/cgroup", "0::/user/app\n");
  }
  SECTION("systemd's, and not left to others") {
    put_groups(host);
    base::make_directories(host.root() / "run/systemd/system");
    fs::permissions(host.root() / "sys/fs/cgroup/user", fs::perms(0555));
    fs::permissions(host.root() / "sys/fs/cgroup/user/app", fs::perms(0555));
  }
  CHECK(probe::RunGroup("x", host.root()).path().empty());
}

TEST_CASE("run group: what a killed run left is removed, what lives is not") {
  const FakeHost host;
  put_groups(host);
  const auto parent = host.root() / "sys/fs/cgroup/user/app";
  const int gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const auto left = parent / ("sabath-old-" + std::to_string(gone));
  const auto live = parent / ("sabath-other-" + std::to_string(::getppid()));
  base::make_directories(left / "inner");
  base::make_directories(live);
  base::make_directories(parent / "sabath-strange");
  const probe::RunGroup group("x", host.root());
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(live));
  CHECK(fs::exists(parent / "sabath-strange"));
}

TEST_CASE("run group: a command begins in it, with all that it starts, and is counted there") {
  std::optional<probe::RunGroup> group(std::in_place, "test");
  if (group->path().empty()) {
    WARN("this test may make no control group of version 2");
    return;
  }
  const fs::path path = group->path();
  base::SystemProcessRunner processes;
  const auto result = processes.run(shell("(cat /proc/self/cgroup); exit 3", path));
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.output, Catch::Matchers::Contains("/" + named("test")));

  const test::TempHome home;
  base::SystemClock clock;
  probe::SamplerOptions options;
  options.interval = 10ms;
  options.share = 1;
  options.group = path;
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  processes.run(shell("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done", path));
  const auto usage = sampler.finish();
  CHECK(usage.scope == "cgroup");
  CHECK(usage.mean_cpus > 0);

  // Nobody waited for it: it is ended with the group.
  const int pid = ::fork();
  if (pid == 0) {
    const int file = ::open((path / "cgroup.procs").c_str(), O_WRONLY);
    if (::write(file, "0", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  while (base::read_file(path / "cgroup.procs").empty())
    std::this_thread::sleep_for(1ms);
  ::mkdir((path / "inner").c_str(), 0755);
  std::thread reaper([pid] { ::waitpid(pid, nullptr, 0); });
  group.reset();
  CHECK_FALSE(fs::exists(path));
  if (fs::exists(path)) ::kill(pid, SIGKILL);
  reaper.join();
}

TEST_CASE("run group: a daemon is ended with the stage in whose group it is") {
  const probe::RunGroup group("test");
  if (group.path().empty()) {
    WARN("this test may make no control group of version 2");
    return;
  }
  CHECK(group.of_stage("a") == group.of_stage("a"));
  CHECK(group.of_stage("a").parent_path() == group.path());
  const test::TempHome home;
  const std::string ready = (home / "ready").string();
  const std::string end = (home / "end").string();
  // It keeps neither the session nor anything of the environment.
  const std::string daemonise = "env -i " SABATH_TEST_PROGRAMS "/daemonise ";
  base::SystemProcessRunner processes;
  int older = -1;
  std::jthread other([&] {
    older = processes
                .run(shell("touch " + ready + "; while [ ! -e " + end +
                               " ]; do sleep 0.01; done; " + daemonise + (home / "late").string(),
                           group.of_stage("a")))
                .leftovers;
  });
  while (!fs::exists(ready))
    std::this_thread::sleep_for(1ms);
  const auto younger =
      processes.run(shell(daemonise + (home / "pid").string(), group.of_stage("b")));
  CHECK(younger.leftovers == 1);
  CHECK(::kill(std::stoi(base::read_file(home / "pid")), 0) == -1);
  base::write_file_atomically(end, "");
  other.join();
  CHECK(older == 1);
  CHECK(::kill(std::stoi(base::read_file(home / "late")), 0) == -1);
}

TEST_CASE("run group: a command whose group is not there, or is none, runs all the same") {
  const test::TempHome home;
  base::SystemProcessRunner processes;
  CHECK(processes.run(shell("exit 4", home / "none")).exit_code == 4);
  CHECK(processes.run(shell("exit 5", home.path())).exit_code == 5);
}

TEST_CASE("run group: a sampler whose group nobody came into looks at the tree of processes") {
  const test::TempHome home;
  base::SystemClock clock;
  base::make_directories(home / "group");
  base::write_file_atomically(home / "group/cpu.stat", "usage_usec 0\n");
  probe::SamplerOptions options;
  options.group = home / "group";
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  base::SystemProcessRunner processes;
  processes.run(shell("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done", {}));
  const auto usage = sampler.finish();
  CHECK(usage.scope == "process tree");
  CHECK(usage.mean_cpus > 0);
}

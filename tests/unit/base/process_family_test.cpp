#include "base/process/process_family.hpp"

#include "support/programs.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::base;
using namespace std::chrono_literals;

namespace {

ProcessResult run(const Command& command) {
  return SystemProcessRunner().run(command);
}

int pid_in(const std::filesystem::path& file) {
  return std::stoi(read_file(file));
}

bool is_gone(int pid) {
  return ::kill(pid, 0) == -1 && errno == ESRCH;
}

int subreaper() {
  int value = -1;
  ::prctl(PR_GET_CHILD_SUBREAPER, &value);
  return value;
}

}  // namespace

TEST_CASE(
    "process: a child in the background is killed and counted, and its open pipe holds nothing "
    "up") {
  const test::TempHome home;
  const auto result =
      run(test::shell("sleep 60 & echo $! > " + (home / "pid").string() + "; echo done"));
  CHECK(result.ok());
  CHECK(result.output == "done\n");
  CHECK(result.leftovers == 1);
  CHECK(result.wall < 20s);
  CHECK(is_gone(pid_in(home / "pid")));
  CHECK(result.describe() == "exited with status 0; one process that it left behind was killed");
}

TEST_CASE("process: a daemon that left the group and the session is found, killed and counted") {
  const test::TempHome home;
  const auto result = run(test::program("daemonise", {home / "pid"}));
  CHECK(result.ok());
  CHECK(result.leftovers == 1);
  CHECK(is_gone(pid_in(home / "pid")));
  CHECK(subreaper() == 0);
}

TEST_CASE("process: a tree of leftovers is killed to the last") {
  const auto result =
      run(test::shell("(sleep 60 & sleep 61 & setsid sleep 62 & wait) & sleep 0.2"));
  CHECK(result.ok());
  CHECK(result.leftovers == 4);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("process: a helper that ends by itself when its leader does is no leftover") {
  const auto result = run(test::shell("sleep 0.01 & exit 0"));
  CHECK(result.ok());
  CHECK(result.leftovers == 0);
}

TEST_CASE("process: children of ours that no command started are let alone") {
  const int own = ::fork();
  if (own == 0) {
    ::pause();
    ::_exit(0);
  }
  const test::TempHome home;
  CHECK(run(test::program("daemonise", {home / "pid"})).leftovers == 1);
  CHECK(::waitpid(own, nullptr, WNOHANG) == 0);
  ::kill(own, SIGKILL);
  CHECK(::waitpid(own, nullptr, 0) == own);
}

TEST_CASE("process: commands in several threads do not disturb one another") {
  constexpr int commands = 8;
  const test::TempHome home;
  std::atomic<int> good{0};
  std::atomic<int> leftovers{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < commands; ++i) {
      threads.emplace_back([&, i] {
        const std::string pid_file = home / ("pid" + std::to_string(i));
        const auto daemon = run(test::program("daemonise", {pid_file}));
        const auto plain = run(test::shell("sleep 0.05; echo " + std::to_string(i)));
        if (daemon.ok() && plain.ok() && plain.output == std::to_string(i) + "\n") ++good;
        leftovers += daemon.leftovers + plain.leftovers;
      });
    }
  }
  CHECK(good == commands);
  // Whose daemon it was may be uncertain, but in the end each has been killed and counted once.
  CHECK(leftovers == commands);
  for (int i = 0; i < commands; ++i)
    CHECK(is_gone(pid_in(home / ("pid" + std::to_string(i)))));
  CHECK(subreaper() == 0);
}

TEST_CASE("process: a daemon of a command that still runs is not taken for another's") {
  const test::TempHome home;
  const std::string pid_file = home / "pid";
  std::jthread other([&] {
    run(test::shell(SABATH_TEST_PROGRAMS "/daemonise " + pid_file + "; touch " +
                    (home / "ready").string() + "; while [ ! -e " + (home / "end").string() +
                    " ]; do sleep 0.01; done"));
  });
  while (!std::filesystem::exists(home / "ready"))
    std::this_thread::sleep_for(2ms);
  CHECK(run(test::shell("exit 0")).leftovers == 0);
  CHECK(run(test::shell("sleep 60 & exit 0")).leftovers == 1);
  CHECK_FALSE(is_gone(pid_in(pid_file)));
  write_file_atomically(home / "end", "");
  other.join();
  CHECK(is_gone(pid_in(pid_file)));
}

TEST_CASE("process: a daemon is ended with its own command, although an older one still runs") {
  const test::TempHome home;
  const auto marked = [&](Command command, const std::string& value) {
    command.environment = current_environment();
    (*command.environment)["TEST_MARK"] = value;
    command.mark = "TEST_MARK";
    return command;
  };
  const std::string end = (home / "end").string();
  const std::string daemonise = SABATH_TEST_PROGRAMS "/daemonise ";
  int older = -1;
  std::jthread other([&] {
    older =
        run(marked(test::shell("touch " + (home / "ready").string() + "; while [ ! -e " + end +
                               " ]; do sleep 0.01; done; " + daemonise + (home / "late").string()),
                   "older"))
            .leftovers;
  });
  while (!std::filesystem::exists(home / "ready"))
    std::this_thread::sleep_for(2ms);
  const auto younger = run(marked(test::shell(daemonise + (home / "pid").string()), "younger"));
  CHECK(younger.leftovers == 1);
  CHECK(is_gone(pid_in(home / "pid")));
  write_file_atomically(end, "");
  other.join();
  CHECK(older == 1);
  CHECK(is_gone(pid_in(home / "late")));
}

TEST_CASE("process: a daemon is killed although two commands end before either looks for it") {
  const test::TempHome home;
  const std::string pid_file = home / "pid";
  const auto started = [](const std::string& line) {
    return std::make_unique<ProcessFamily>([line] {
      const int pid = ::fork();
      if (pid != 0) return pid;
      ::setsid();
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    });
  };
  const auto await = [](const ProcessFamily& family) {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(family.leader()), &info, WEXITED | WNOWAIT);
  };
  // The other one is older: the daemon could be its.
  const auto other = started("while [ ! -e " + (home / "end").string() + " ]; do sleep 0.01; done");
  const auto daemon = started(SABATH_TEST_PROGRAMS "/daemonise " + pid_file);
  await(*daemon);
  write_file_atomically(home / "end", "");
  await(*other);
  CHECK(daemon->kill_others() + other->kill_others() == 1);
  CHECK(is_gone(pid_in(pid_file)));
  daemon->reap();
  other->reap();
  CHECK(subreaper() == 0);
}

TEST_CASE("process: a command gets SIGTERM when its caller is killed, unless it may outlive it") {
  const test::TempHome home;
  const bool outlives = GENERATE(false, true);
  Command command =
      test::shell("trap 'echo asked > " + (home / "asked").string() + "; exit' TERM; echo $$ > " +
                  (home / "pid.tmp").string() + "; mv " + (home / "pid.tmp").string() + " " +
                  (home / "pid").string() + "; while :; do sleep 0.01; done");
  command.outlives_caller = outlives;
  const int caller = ::fork();
  if (caller == 0) {
    run(command);
    ::_exit(0);
  }
  while (!std::filesystem::exists(home / "pid"))
    std::this_thread::sleep_for(2ms);
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  for (int i = 0; i < (outlives ? 50 : 5000) && !std::filesystem::exists(home / "asked"); ++i)
    std::this_thread::sleep_for(2ms);
  CHECK(std::filesystem::exists(home / "asked") != outlives);
  ::kill(-pid_in(home / "pid"), SIGKILL);
}

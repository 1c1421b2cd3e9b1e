#pragma once

#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/launch/launcher.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace sabath::test {

/// What every launcher must do, whatever executes the job. Call `check_launcher` in a TEST_CASE
/// with a launcher that works here; each section is one way in which a job ends.
class LauncherConformance {
 public:
  explicit LauncherConformance(launch::Launcher& launcher,
                               std::chrono::seconds patience = std::chrono::seconds(60))
      : launcher_(launcher), patience_(patience) {}

  launch::Job job(std::vector<std::string> argv) const {
    return {"conformance-20261120-103205-abcdefgh", std::move(argv), home_.path()};
  }
  launch::Job shell(const std::string& script) const { return job({"/bin/sh", "-c", script}); }

  /// Polls until the job does not run.
  launch::JobState wait(const launch::JobId& id) const {
    const auto end = std::chrono::steady_clock::now() + patience_;
    auto state = launcher_.poll(id);
    while (std::holds_alternative<launch::Running>(state) &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      state = launcher_.poll(id);
    }
    return state;
  }

  /// The end of a job that has one.
  launch::Finished finished(const launch::JobId& id) const {
    const auto state = wait(id);
    REQUIRE(std::holds_alternative<launch::Finished>(state));
    return std::get<launch::Finished>(state);
  }

  void wait_for_file(const std::string& name) const {
    const auto end = std::chrono::steady_clock::now() + patience_;
    while (!std::filesystem::exists(home_ / name) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    REQUIRE(std::filesystem::exists(home_ / name));
  }

  std::filesystem::path path(const std::string& name) const { return home_ / name; }
  launch::Launcher& launcher() const { return launcher_; }

 private:
  TempHome home_{};
  launch::Launcher& launcher_;
  std::chrono::seconds patience_;
};

inline void check_ends(const LauncherConformance& test) {
  auto& launcher = test.launcher();
  SECTION("success is exit status 0, and stays") {
    const auto id = launcher.submit(test.shell("exit 0"));
    for (int again = 0; again < 2; ++again) {
      const auto end = test.finished(id);
      CHECK(end.exit_code == 0);
      CHECK(end.signal == 0);
    }
  }
  SECTION("failure is its exit status") {
    const auto end = test.finished(launcher.submit(test.shell("exit 3")));
    CHECK(end.exit_code == 3);
    CHECK(end.signal == 0);
  }
  SECTION("death by a signal is that signal") {
    const auto end = test.finished(launcher.submit(test.shell("kill -SEGV $$")));
    CHECK(end.signal == SIGSEGV);
  }
  SECTION("two jobs are told apart") {
    const auto one = launcher.submit(test.shell("exit 1"));
    const auto two = launcher.submit(test.shell("exit 2"));
    CHECK(one != two);
    CHECK(test.finished(two).exit_code == 2);
    CHECK(test.finished(one).exit_code == 1);
  }
}

inline void check_control(const LauncherConformance& test) {
  auto& launcher = test.launcher();
  SECTION("a job is running until it ends, and may end by itself when asked") {
    const auto id =
        launcher.submit(test.shell("trap 'exit 7' TERM; touch '" + test.path("up").string() +
                                   "'; while true; do sleep 0.02; done"));
    test.wait_for_file("up");
    CHECK(std::holds_alternative<launch::Running>(launcher.poll(id)));
    launcher.cancel(id);
    CHECK(test.finished(id).exit_code == 7);
    CHECK_NOTHROW(launcher.cancel(id));  // gone already
  }
  SECTION("a job that does not mind ends when it is cancelled") {
    const auto id = launcher.submit(test.job({"/bin/sleep", "600"}));
    launcher.cancel(id);
    CHECK(test.finished(id).signal == SIGTERM);
  }
  SECTION("its arguments reach it as they are, and its output goes to exec.log") {
    const auto id = launcher.submit(test.job({"/bin/echo", "a  b", "$HOME;'"}));
    test.finished(id);
    CHECK(base::read_file(test.path("exec.log")) == "a  b $HOME;'\n");
  }
  SECTION("an id that it cannot have given is no job of it") {
    for (const auto* id : {"", "nonsense", "-1:5", "0:0", "1:", "999999999:1"}) {
      CHECK(std::holds_alternative<launch::Vanished>(launcher.poll(id)));
      CHECK_NOTHROW(launcher.cancel(id));
    }
  }
}

inline void check_refusals(const LauncherConformance& test) {
  SECTION("a command that cannot be started is told when it is submitted, or fails") {
    try {
      const auto id = test.launcher().submit(test.job({test.path("none").string()}));
      CHECK(test.finished(id).exit_code != 0);
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::launch);
      CHECK_THAT(error.what(), Catch::Matchers::Contains(test.path("none").string()));
    }
  }
}

inline void check_launcher(launch::Launcher& launcher) {
  const LauncherConformance test(launcher);
  check_ends(test);
  check_control(test);
  check_refusals(test);
}

}  // namespace sabath::test

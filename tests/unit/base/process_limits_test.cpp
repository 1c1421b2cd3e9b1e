#include "support/programs.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <thread>

#include <signal.h>

using namespace sabath;
using namespace sabath::base;
using namespace std::chrono_literals;

namespace {

ProcessResult run(const Command& command, std::stop_token stop = {}) {
  return SystemProcessRunner().run(command, std::move(stop));
}

/// Triggers `stop` as soon as `file` has content.
std::jthread stop_when_written(std::stop_source& stop, const std::filesystem::path& file) {
  return std::jthread([&stop, file](const std::stop_token& given_up) {
    while (!given_up.stop_requested() && read_file_if_exists(file).value_or("").empty())
      std::this_thread::sleep_for(2ms);
    stop.request_stop();
  });
}

}  // namespace

TEST_CASE("process: past its deadline a command is ended") {
  Command command = test::shell("sleep 60");
  command.deadline = 50ms;
  const auto result = run(command);
  CHECK(result.end == ProcessEnd::timed_out);
  CHECK_FALSE(result.ok());
  CHECK(result.wall >= 50ms);
  CHECK(result.wall < 20s);
  CHECK(result.describe() == "ran past its limit of 50 ms and was ended");
}

TEST_CASE("process: output does not extend the deadline") {
  Command command = test::program("endless");
  command.deadline = 50ms;
  CHECK(run(command).end == ProcessEnd::timed_out);
}

TEST_CASE("process: one that ignores SIGTERM is killed after the grace") {
  Command command = test::program("stubborn");
  command.silence_deadline = 100ms;
  command.grace = 100ms;
  const auto result = run(command);
  CHECK(result.output == "ready\n");
  CHECK(result.end == ProcessEnd::silent);
  CHECK(result.signal == SIGKILL);
  CHECK(result.wall >= 200ms);
  CHECK(result.wall < 20s);
}

TEST_CASE("process: silence is ended, talk is not") {
  Command silent = test::shell("echo once; sleep 60");
  silent.silence_deadline = 100ms;
  const auto result = run(silent);
  CHECK(result.end == ProcessEnd::silent);
  CHECK(result.output == "once\n");
  CHECK(result.describe() == "wrote nothing for 100 ms and was ended");

  Command talking = test::shell("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done");
  talking.silence_deadline = 5s;
  CHECK(run(talking).ok());
}

TEST_CASE("process: silence is seen in output files too") {
  const test::TempHome home;
  Command command = test::shell("for i in 1 2 3 4; do echo $i; sleep 0.1; done; sleep 60");
  command.stdout_path = home / "out";
  command.silence_deadline = 350ms;
  const auto result = run(command);
  CHECK(result.end == ProcessEnd::silent);
  CHECK(read_file(home / "out") == "1\n2\n3\n4\n");
  CHECK(result.wall >= 650ms);
}

TEST_CASE("process: what a command writes elsewhere is no silence either", "[long]") {
  const test::TempHome home;
  const auto file = home / "metrics";
  Command command =
      test::shell("for i in 1 2 3 4 5 6 7 8; do echo $i >> \"$FILE\"; sleep 0.2; done; sleep 60");
  command.environment = base::current_environment();
  (*command.environment)["FILE"] = file.string();
  command.silence_deadline = 1s;
  command.other_output = [&] {
    std::error_code code;
    const auto size = std::filesystem::file_size(file, code);
    return code ? 0 : size;
  };
  const auto result = run(command);
  CHECK(result.end == ProcessEnd::silent);
  CHECK(read_file(file) == "1\n2\n3\n4\n5\n6\n7\n8\n");
  CHECK(result.wall >= 2s);
}

TEST_CASE("process: more output than allowed ends it, on a pipe and in a file") {
  const test::TempHome home;
  Command command = test::program("endless");
  command.output_limit = 1'000'000;
  command.capture_limit = 100;
  SECTION("pipe") {
    const auto result = run(command);
    CHECK(result.end == ProcessEnd::too_loud);
    CHECK(result.output_bytes > 1'000'000);
    CHECK(result.output == std::string(100, 'y'));
  }
  SECTION("file") {
    command.stdout_path = home / "out";
    const auto result = run(command);
    CHECK(result.end == ProcessEnd::too_loud);
    CHECK(result.output_bytes == std::filesystem::file_size(home / "out"));
  }
  SECTION("at once, on a pipe: not all of it was captured") {
    command = test::shell("head -c 3000 /dev/zero");
    command.output_limit = 2000;
    CHECK(run(command).end == ProcessEnd::too_loud);
  }
  SECTION("at once, in a file: it has ended by itself, and all of it is there") {
    ProcessResult result;
    // Between its writing and its end somebody may have looked. Looks are 50 ms apart.
    for (int tries = 0; tries == 0 || (result.end == ProcessEnd::too_loud && tries < 30); ++tries) {
      command = test::shell("sleep 0.0" + std::to_string(tries % 10) +
                            "; exec truncate -s 3000 /dev/stdout");
      command.output_limit = 2000;
      command.stdout_path = home / "out";
      std::filesystem::remove(command.stdout_path);
      result = run(command);
    }
    INFO(result.describe() << ": " << result.errors);
    CHECK(result.ok());
    CHECK(result.output_bytes == 3000);
  }
  SECTION("within the limit") {
    command.argv.emplace_back("1000");
    CHECK(run(command).ok());
  }
}

TEST_CASE("process: a stop request ends it") {
  const test::TempHome home;
  Command command = test::shell("echo ready; sleep 60");
  command.stdout_path = home / "out";
  std::stop_source stop;
  const auto stopper = stop_when_written(stop, home / "out");
  const auto result = run(command, stop.get_token());
  CHECK(result.end == ProcessEnd::stopped);
  CHECK(result.wall < 20s);
  CHECK(result.describe() == "was stopped");
}

TEST_CASE("process: a stop that was asked for before starts nothing") {
  const test::TempHome home;
  std::stop_source stop;
  stop.request_stop();
  const auto result = run(test::shell("touch " + (home / "ran").string()), stop.get_token());
  CHECK(result.end == ProcessEnd::stopped);
  CHECK_FALSE(result.ok());
  CHECK_FALSE(std::filesystem::exists(home / "ran"));
}

TEST_CASE("process: when asked to end, the whole group has the grace to finish its work") {
  const test::TempHome home;
  Command command = test::program("parting", {home / "saved"});
  command.stdout_path = home / "out";
  std::stop_source stop;
  const auto stopper = stop_when_written(stop, home / "out");
  const auto result = run(command, stop.get_token());
  CHECK(result.end == ProcessEnd::stopped);
  CHECK(result.leftovers == 0);
  CHECK(read_file_if_exists(home / "saved") == "saved");
}

TEST_CASE("process: one that was stopped (SIGSTOP) is ended too") {
  Command command = test::shell("kill -STOP $$; sleep 60");
  command.deadline = 100ms;
  command.grace = 30s;
  const auto result = run(command);
  CHECK(result.end == ProcessEnd::timed_out);
  CHECK(result.wall < 20s);
}

TEST_CASE("process: limits without end are no overflow") {
  Command command = test::shell("exit 0");
  command.deadline = std::chrono::nanoseconds::max();
  command.silence_deadline = std::chrono::nanoseconds::max();
  command.grace = std::chrono::nanoseconds::max();
  CHECK(run(command).ok());
}

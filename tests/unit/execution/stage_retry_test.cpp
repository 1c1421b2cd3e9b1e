#include "execution/stage_retry.hpp"

#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/stop_signal.hpp>

#include <catch2/catch.hpp>

#include <csignal>
#include <fstream>

using namespace sabath;
using namespace std::chrono_literals;
using base::ProcessEnd;
using execution::why_again;
namespace fs = std::filesystem;

namespace {

base::ProcessResult ended(ProcessEnd end, int number = 0) {
  base::ProcessResult process;
  process.end = end;
  if (end == ProcessEnd::exited) process.exit_code = number;
  if (end == ProcessEnd::signaled) process.signal = number;
  return process;
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("retry: only what is named is worth another try") {
  const test::TempHome home;
  const spec::Retry retry{2, 0s, {75}, {"SIGBUS"}, {"time"}, {}};
  const auto reason = [&](ProcessEnd end, int number = 0) {
    return why_again(retry, ended(end, number), home.path());
  };
  CHECK(reason(ProcessEnd::exited, 75) == "exit status 75 is named");
  CHECK(reason(ProcessEnd::signaled, SIGBUS) == "SIGBUS is named");
  CHECK(reason(ProcessEnd::timed_out) == "the limit of time is named");
  CHECK_FALSE(reason(ProcessEnd::exited, 1));
  CHECK_FALSE(reason(ProcessEnd::exited, 0));
  CHECK_FALSE(reason(ProcessEnd::signaled, SIGSEGV));
  CHECK_FALSE(reason(ProcessEnd::silent));
  CHECK_FALSE(reason(ProcessEnd::too_loud));
}

TEST_CASE("retry: what a failed command wrote at its end can be named") {
  const test::TempHome home;
  const spec::Retry retry{1, 0s, {}, {}, {}, {"out of (memory|space)"}};
  const auto reason = [&](ProcessEnd end, int number) {
    return why_again(retry, ended(end, number), home.path());
  };
  CHECK_FALSE(reason(ProcessEnd::exited, 1));  // there are no logs at all
  write(home / "stdout.log", "CUDA error: out of memory\n" + std::string(100'000, 'x'));
  CHECK_FALSE(reason(ProcessEnd::exited, 1));  // too long ago
  write(home / "stdout.log", std::string(100'000, 'x') + "\nCUDA error: out of memory\n");
  CHECK(reason(ProcessEnd::exited, 1) == "'out of (memory|space)' is in its stdout.log");
  CHECK(reason(ProcessEnd::signaled, SIGKILL));
  write(home / "stderr.log", "out of space\n");
  CHECK(reason(ProcessEnd::exited, 1) == "'out of (memory|space)' is in its stderr.log");
  CHECK_FALSE(reason(ProcessEnd::exited, 0));
  CHECK_FALSE(reason(ProcessEnd::stopped, 0));
}

TEST_CASE("retry: what a try left is moved aside, and its outputs are gone") {
  const test::TempHome home;
  const fs::path folder = home / "stage";
  const fs::path outputs = home / "outputs";
  for (int number = 1; number <= 2; ++number) {
    write(folder / "stdout.log", "try " + std::to_string(number));
    write(folder / "metrics-0.jsonl", "{}");
    write(folder / "work" / "file", "x");
    write(outputs / "x.h5", "half");
    execution::put_aside(number, folder, outputs);
    CHECK_FALSE(fs::exists(outputs));
  }
  CHECK(base::read_file(folder / "try-1" / "stdout.log") == "try 1");
  CHECK(base::read_file(folder / "try-2" / "stdout.log") == "try 2");
  CHECK(fs::exists(folder / "try-2" / "work" / "file"));
  CHECK_FALSE(fs::exists(folder / "metrics-0.jsonl"));
  CHECK_FALSE(fs::exists(folder / "try-2" / "try-1"));
}

TEST_CASE("retry: a pause ends with the run") {
  std::stop_source stop;
  CHECK(base::wait_unless_stopped(0s, stop.get_token()));
  stop.request_stop();
  CHECK_FALSE(base::wait_unless_stopped(1h, stop.get_token()));
}

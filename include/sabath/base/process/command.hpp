#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::base {

using Environment = std::map<std::string, std::string>;

/// A program to start. No shell is involved: `argv` reaches the program unchanged.
struct Command {
  std::vector<std::string> argv{};
  std::filesystem::path working_directory{};  ///< empty: the caller's
  /// The complete environment of the child; nothing means the caller's.
  std::optional<Environment> environment{};
  /// Content of stdin; empty: /dev/null. Use it for secrets: all users can see `argv`.
  std::string input{};
  /// Files that output is appended to; empty: the result captures the last `capture_limit` bytes.
  /// One path for both streams interleaves them; each stream then counts the growth of the whole
  /// file.
  std::filesystem::path stdout_path{};
  std::filesystem::path stderr_path{};
  std::size_t capture_limit = 1U << 20U;
  std::optional<std::chrono::nanoseconds> deadline{};  ///< wall time for the whole command
  std::optional<std::chrono::nanoseconds>
      silence_deadline{};  ///< without any output in pipes or regular files
  /// Returns the size of other output of the command, whose growth also ends a silence. Called
  /// now and then by the waiting thread if there is a `silence_deadline`.
  std::function<std::uintmax_t()> other_output{};
  std::optional<std::uint64_t>
      output_limit{};  ///< bytes per stream; beyond it the command is ended
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< between SIGTERM and SIGKILL
  /// When sabath itself dies (kill -9), the command gets SIGTERM unless this is set.
  bool outlives_caller = false;
  /// Control group (Linux, version 2) in which the child starts. If the kernel refuses, the child
  /// starts in the caller's group.
  std::filesystem::path control_group{};
  /// A variable of `environment` whose value is unique among commands that run at the same time.
  /// It, or a `control_group` of its own, assigns daemons to their command.
  std::string mark{};
  /// Called in the parent once the child runs, with its pid (also its process group).
  std::function<void(int)> on_start{};
};

enum class ProcessEnd {
  exited,     ///< by itself; see `exit_code`
  signaled,   ///< by a signal that sabath did not send; see `signal`
  timed_out,  ///< exceeded `deadline`
  silent,     ///< no output for `silence_deadline`
  too_loud,   ///< exceeded `output_limit`
  stopped,    ///< stop token
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::exited;
  int exit_code = 0;               ///< meaningful for `exited`
  int signal = 0;                  ///< meaningful for `signaled`
  std::string output{};            ///< captured tail of stdout, where it was captured
  std::string errors{};            ///< captured tail of stderr, where it was captured
  std::uint64_t output_bytes = 0;  ///< bytes seen on stdout
  std::uint64_t error_bytes = 0;
  std::chrono::nanoseconds limit{};  ///< the exceeded limit: `timed_out` and `silent`
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds user{};
  std::chrono::nanoseconds system{};
  /// Peak of the largest process of the command. Never less than what sabath itself had resident
  /// at the fork (some 10 MiB): Linux counts that too.
  std::uint64_t max_rss_bytes = 0;
  /// Processes that outlived the command's own process and were killed.
  int leftovers = 0;

  bool ok() const { return end == ProcessEnd::exited && exit_code == 0; }
  /// "exited with status 3", "was killed by signal 11 (SIGSEGV)", "ran past its limit of 10.0 s and
  /// was ended": for people.
  std::string describe() const;
};

}  // namespace sabath::base

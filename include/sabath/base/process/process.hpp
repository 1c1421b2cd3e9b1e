#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

using Environment = std::map<std::string, std::string>;

/// This process's environment as a map.
Environment current_environment();

/// One program to start. There is no shell anywhere: `argv` reaches the program as it is.
struct Command {
  std::vector<std::string> argv{};
  std::filesystem::path working_directory{};  ///< empty: the caller's
  /// The complete environment of the child; nothing means the caller's.
  std::optional<Environment> environment{};
  /// What the command reads at stdin; empty: /dev/null. For secrets: `argv` is shown to all.
  std::string input{};
  /// Where output goes; empty means that it is captured into the result (the last `capture_limit`
  /// bytes). A file is made or appended to; one path for both streams interleaves them, and then
  /// each counts the whole file's growth.
  std::filesystem::path stdout_path{};
  std::filesystem::path stderr_path{};
  std::size_t capture_limit = 1U << 20U;
  std::optional<std::chrono::nanoseconds> deadline{};  ///< wall time for the whole command
  std::optional<std::chrono::nanoseconds>
      silence_deadline{};  ///< without any output in pipes or regular files
  /// The size of what the command writes elsewhere and is no silence either; asked now and then, in
  /// the thread that waits, where there is a `silence_deadline`.
  std::function<std::uintmax_t()> other_output{};
  std::optional<std::uint64_t>
      output_limit{};  ///< bytes per stream; beyond it the command is ended
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< between SIGTERM and SIGKILL
  /// When sabath itself dies (kill -9), the command gets SIGTERM unless this is set.
  bool outlives_caller = false;
  /// A folder of Linux's control groups, version 2, in which the child begins; where the kernel
  /// does not let it, it begins where the caller is.
  std::filesystem::path control_group{};
  /// A variable of `environment` whose value no other command has that runs at the same time. By
  /// it, or by a `control_group` of its own, daemons of commands that run at once are told apart.
  std::string mark{};
  /// Called in the parent once the child runs, with its pid (which is also its process group).
  std::function<void(int)> on_start{};
};

enum class ProcessEnd {
  exited,     ///< by itself; see `exit_code`
  signaled,   ///< by a signal that sabath did not send; see `signal`
  timed_out,  ///< ran past `deadline` and was ended
  silent,     ///< wrote nothing for `silence_deadline` and was ended
  too_loud,   ///< wrote more than `output_limit` and was ended
  stopped,    ///< the stop token was triggered
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::exited;
  int exit_code = 0;               ///< meaningful for `exited`
  int signal = 0;                  ///< meaningful for `signaled`
  std::string output{};            ///< captured tail of stdout, where it was captured
  std::string errors{};            ///< captured tail of stderr, where it was captured
  std::uint64_t output_bytes = 0;  ///< bytes seen on stdout
  std::uint64_t error_bytes = 0;
  std::chrono::nanoseconds limit{};  ///< the one that it ran past: `timed_out` and `silent`
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds user{};
  std::chrono::nanoseconds system{};
  /// Peak of the largest process of the command. Linux counts what sabath itself had resident when
  /// it forked, so this is never less than that (some 10 MiB).
  std::uint64_t max_rss_bytes = 0;
  /// Processes that were still there when the command's own process had ended, and were killed.
  int leftovers = 0;

  bool ok() const { return end == ProcessEnd::exited && exit_code == 0; }
  /// "exited with status 3", "was killed by signal 11 (SIGSEGV)", "ran past its limit of 10.0 s and
  /// was ended": for people.
  std::string describe() const;
};

/// Starts programs. The interface exists so that tests can put recording fakes in its place.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs to the end. The child gets its own session and process group (so no terminal to ask
  /// questions at), stdin from `input`, no descriptor but 0, 1, 2, and default signal
  /// dispositions. When its own process has ended, all that it left behind is ended too, daemons
  /// included (the caller becomes their subreaper for the time being). What must be ended gets
  /// SIGTERM, and after `grace` SIGKILL. A non-zero exit is a result. A stop token that was
  /// triggered before the start starts nothing. Several threads may run commands at once.
  /// Throws Error{launch} when it cannot be started at all (no such command, not executable),
  /// Error{storage} when output cannot be written.
  virtual ProcessResult run(const Command& command, std::stop_token stop = {}) = 0;
};

class SystemProcessRunner final : public ProcessRunner {
 public:
  ProcessResult run(const Command& command, std::stop_token stop = {}) override;
};

/// The program's path as execvp would find it in `path_variable`; nothing when there is none.
std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  std::string_view path_variable);
/// The same with this process's PATH.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// A copy-and-paste form of an argument vector, quoted for a POSIX shell where that is needed.
std::string quote_command(const std::vector<std::string>& argv);

/// The same for people: bash's and POSIX 2024's $'...' around an argument with characters that are
/// escaped on the way to a terminal, so that what is shown is still the command.
std::string shown_command(const std::vector<std::string>& argv);

/// "SIGSEGV" for 11; "SIGRTMIN+3" for real-time ones; the number for others.
std::string signal_name(int signal);

}  // namespace sabath::base

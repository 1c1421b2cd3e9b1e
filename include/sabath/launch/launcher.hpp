#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::launch {

/// One plan to execute: `argv` is "sabath exec RUN_DIR".
struct Job {
  std::string run_id{};
  std::vector<std::string> argv{};
  std::filesystem::path run_directory{};  ///< exists; the job's output goes to its exec.log
  std::optional<base::Environment> environment{};  ///< nothing: that of this process
};

/// What the launcher calls a job: opaque text without blanks, to be kept as it is. It means the
/// same to any later process of this user on this node.
using JobId = std::string;

struct Pending {};
struct Running {};
struct Finished {
  int exit_code = 0;  ///< meaningful when `signal` is 0
  int signal = 0;
};
/// The job is not there any more and nobody can tell how it ended; never success.
struct Vanished {
  std::string reason{};
};
using JobState = std::variant<Pending, Running, Finished, Vanished>;

/// Where a run executes. What really happened is in the run's status.json; a launcher only
/// corroborates. All members may be called from any thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  /// Returns when accepted; the job outlives this object and this process. Throws Error{launch},
  /// and Error{not_found|storage} when the log cannot be made.
  virtual JobId submit(const Job& job) = 0;
  /// Never blocks. A final state stays. An id that this launcher cannot have given is Vanished.
  virtual JobState poll(const JobId& id) = 0;
  /// Asks to end (SIGTERM to `exec`, which ends what it started); a job that is gone already is no
  /// error.
  virtual void cancel(const JobId& id) = 0;
};

/// The only list of launchers; the first is the default.
std::vector<std::unique_ptr<Launcher>> builtin_launchers();

}  // namespace sabath::launch

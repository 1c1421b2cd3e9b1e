#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sabath::launch {

/// One plan to execute. `argv` is "sabath exec RUN_DIR".
struct Job {
  std::string run_id{};
  std::vector<std::string> argv{};
  std::filesystem::path run_directory{};           ///< exists; its exec.log gets the job's output
  std::optional<base::Environment> environment{};  ///< nothing: the environment of this process
};

/// Launcher's name of a job: opaque text without blanks. Valid for any later process of this user
/// on this node.
using JobId = std::string;

struct Running {};
struct Finished {
  int exit_code = 0;  ///< valid where `signal` is 0
  int signal = 0;
};
/// The job is gone and its end is unknown; never success.
struct Vanished {
  std::string reason{};
};
using JobState = std::variant<Running, Finished, Vanished>;

/// Place where runs execute. The run's status.json has the outcome; a launcher only corroborates
/// it. Thread safety: members may be called from any thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Starts a job, which outlives this object and this process. Throws Error{launch}, and
  /// Error{not_found|storage} where the log cannot be made.
  virtual JobId submit(const Job& job) = 0;
  /// Returns the state of a job without blocking. A final state stays. The id of another launcher
  /// is Vanished.
  virtual JobState poll(const JobId& id) = 0;
  /// Sends SIGTERM to `exec`, which ends its processes. Ignores a job that is gone.
  virtual void cancel(const JobId& id) = 0;
};

/// Returns the launcher that starts jobs as processes of this node.
std::unique_ptr<Launcher> local_launcher();

}  // namespace sabath::launch

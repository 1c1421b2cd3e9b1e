#pragma once

#include <sabath/base/process.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::launch {

/// One plan to execute: `argv` is "sabath exec RUN_DIR".
struct Job {
  std::string run_id{};
  std::vector<std::string> argv{};
  std::filesystem::path run_directory{};
};

using JobId = std::string;

struct Pending {};
struct Running {};
struct Finished {
  int exit_code = 0;
  int signal = 0;
};
struct Vanished {
  std::string reason{};
};
using JobState = std::variant<Pending, Running, Finished, Vanished>;

/// Where a run executes. What really happened is in the run's status.json; a launcher only
/// corroborates.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  /// Returns when accepted. Throws Error{launch}.
  virtual JobId submit(const Job& job) = 0;
  /// Never blocks.
  virtual JobState poll(const JobId& id) = 0;
  /// Asks to end; a job that is gone already is no error.
  virtual void cancel(const JobId& id) = 0;
};

/// The only list of launchers.
std::vector<std::unique_ptr<Launcher>> builtin_launchers();

}  // namespace sabath::launch

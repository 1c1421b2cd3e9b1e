#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// Runs the commands of one build. Their output goes to the log, they share the build's limits, and
/// the first failure ends the build.
class BuildSteps {
 public:
  /// `environment` is that of each command; HOME and TMPDIR are replaced by folders in the work
  /// folder.
  BuildSteps(base::ProcessRunner& processes,
             const LayerBuild& build,
             base::Environment environment);

  /// Runs one command; `doing` ("compiling") names it to people. Throws Error{environment} with the
  /// tail of the log; Error{interrupted}.
  void run(std::string_view doing,
           const std::vector<std::string>& argv,
           const std::filesystem::path& directory);
  /// Runs one command and returns how it ended. Throws Error{interrupted}.
  base::ProcessResult attempt(std::string_view doing,
                              std::vector<std::string> argv,
                              const std::filesystem::path& directory);
  /// Throws the error of `run` for a failed command.
  [[noreturn]] void refuse(std::string_view doing,
                           const std::vector<std::string>& argv,
                           const base::ProcessResult& result) const;
  /// Adds a line to the log.
  void log_line(const std::string& line);

 private:
  base::ProcessRunner& processes_;
  const LayerBuild& build_;
  base::Environment environment_;
  std::chrono::nanoseconds used_{};
};

/// Runs a tool. Throws Error{interrupted} with this message where it was stopped; and as `run`.
base::ProcessResult run_unless_stopped(base::ProcessRunner& processes,
                                       const base::Command& command,
                                       const std::stop_token& stop,
                                       const std::string& message);

/// Throws Error{interrupted} where a build was stopped before it began.
void require_not_stopped(const LayerBuild& build);

/// Returns the message of a full disk or quota in the output of a tool. It is temporary, so it is
/// never remembered.
std::optional<std::string> full_disk(std::string_view said);
/// Throws Error{storage} where a tool failed for that reason; `message` says what failed.
void refuse_full_disk(const base::ProcessResult& result, const std::string& message);

/// Returns what to do where no network is reached. A failure while `doing` "cannot be resolved" or
/// "look up ..." leaves no lock.
std::string without_network(std::string_view doing);

/// Appends to a log.
void write_log(const std::filesystem::path& log, const std::string& text);
/// Returns the last of `lines`, made safe for a terminal, each on a new line and indented by four
/// blanks.
std::string last_lines(const std::vector<std::string>& lines, std::size_t most = 20);
/// Returns the same for the lines of `text` that are not blank and that `is_shown` accepts.
std::string last_lines_in(const std::string& text,
                          std::size_t most,
                          const std::function<bool(const std::string& line)>& is_shown = {});
/// Returns the last lines of a log, unchanged.
std::vector<std::string> last_lines_of(const std::filesystem::path& log);
/// Returns the last lines of a log, made safe for a terminal, each indented by four blanks.
std::string tail_of(const std::filesystem::path& log, std::size_t lines = 20);

}  // namespace sabath::env

#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// The commands of one build, one after another: all that they say goes to the log, all share the
/// build's limits, and the first that fails ends it.
class BuildSteps {
 public:
  /// `environment` is what each command sees, but for HOME and TMPDIR, which lie in the work
  /// folder.
  BuildSteps(base::ProcessRunner& processes,
             const LayerBuild& build,
             base::Environment environment);

  /// Runs one command; `doing` ("compiling") names it to people. Throws Error{environment} with the
  /// tail of the log; Error{interrupted}.
  void run(std::string_view doing,
           std::vector<std::string> argv,
           const std::filesystem::path& directory);
  /// The same where the caller judges how the command ended; Error{interrupted}.
  base::ProcessResult attempt(std::string_view doing,
                              std::vector<std::string> argv,
                              const std::filesystem::path& directory);
  /// What `run` throws for a command that failed.
  [[noreturn]] void refuse(std::string_view doing,
                           const std::vector<std::string>& argv,
                           const base::ProcessResult& result) const;
  /// Adds a line of our own to the log.
  void log_line(const std::string& line);

 private:
  base::ProcessRunner& processes_;
  const LayerBuild& build_;
  base::Environment environment_;
  std::chrono::nanoseconds used_{};
};

/// What a tool says in the locale that it is given, when the disk or a quota is full: no property
/// of what is asked for, so that it is never remembered as one.
std::optional<std::string> full_disk(std::string_view said);
/// Throws Error{storage} where that is why a tool failed; `message` says who did what.
void refuse_full_disk(const base::ProcessResult& result, const std::string& message);

/// Appends to a log.
void write_log(const std::filesystem::path& log, const std::string& text);
/// The last of `lines`, made safe for a terminal, each on a line of its own and indented by four
/// blanks.
std::string last_lines(const std::vector<std::string>& lines, std::size_t most = 20);
/// The last lines of a log as they are.
std::vector<std::string> last_lines_of(const std::filesystem::path& log);
/// The last lines of a log, made safe for a terminal, each indented by four blanks.
std::string tail_of(const std::filesystem::path& log, std::size_t lines = 20);

}  // namespace sabath::env

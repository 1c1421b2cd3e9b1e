#pragma once

#include "store/memo.hpp"

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// A program with the arguments that always follow it ("ccache gcc", "gcc -m32").
struct Tool {
  std::vector<std::string> command{};  ///< the program by its full path
  std::string identity{};              ///< the same on every machine that has the same program
};

/// What programs are, asked of themselves and remembered until their files change.
class Toolchain {
 public:
  Toolchain(base::ProcessRunner& processes, std::shared_ptr<Memo> memo);

  /// The first line that `name --version` prints, or the digest of the program where it ends
  /// without one. Nothing when it is not on the PATH of `environment`. Throws Error{environment}
  /// for one that does not end within a minute, where a slow file system would look the same.
  std::optional<Tool> tool(const std::string& name, const base::Environment& environment);
  /// Of the program's bytes, which change where a version line does not; "unreadable" where they
  /// may only be executed.
  std::string digest_of(const Tool& tool);
  /// A compiler: its version line, the machine that it compiles for, and the options that always
  /// follow it. `command` is split at blanks.
  std::optional<Tool> compiler(std::string_view language,
                               std::string_view command,
                               const base::Environment& environment);

 private:
  /// What is remembered: it holds as long as the files are what they were.
  struct Answer {
    std::string identity{};
    std::vector<std::filesystem::path> files{};
  };
  /// No language: a tool that is no compiler.
  std::optional<Tool> find(std::string_view language,
                           std::vector<std::string> command,
                           const base::Environment& environment);
  Answer ask(std::string_view language,
             const std::vector<std::string>& command,
             const base::Environment& environment);
  std::optional<std::string> first_line(std::vector<std::string> command,
                                        const std::string& option,
                                        const base::Environment& environment);

  base::ProcessRunner& processes_;
  std::shared_ptr<Memo> memo_;
};

}  // namespace sabath::env

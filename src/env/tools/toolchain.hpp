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

/// A program with its fixed arguments ("ccache gcc", "gcc -m32").
struct Tool {
  std::vector<std::string> command{};  ///< begins with the program's full path
  std::string identity{};              ///< equal on machines with the same program
};

/// Asks programs for their versions and remembers the answers until their files change.
class Toolchain {
 public:
  Toolchain(base::ProcessRunner& processes, std::shared_ptr<Memo> memo);

  /// Returns a tool with the first line of `name --version`, else with the program's digest.
  /// Nothing where it is not on the PATH of `environment`. Throws Error{environment} for a program
  /// that does not end within a minute: a slow file system must not change its identity.
  std::optional<Tool> tool(const std::string& name, const base::Environment& environment);
  /// Returns the digest of the program, which changes where a version line does not; "unreadable"
  /// for one that may only be executed.
  std::string digest_of(const Tool& tool);
  /// Returns a compiler with its version line, target machine and fixed options. Splits `command`
  /// at blanks.
  std::optional<Tool> compiler(std::string_view language,
                               std::string_view command,
                               const base::Environment& environment);

 private:
  /// A remembered answer, valid while the files are unchanged.
  struct Answer {
    std::string identity{};
    std::vector<std::filesystem::path> files{};
  };
  /// An empty language means a tool that is not a compiler.
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

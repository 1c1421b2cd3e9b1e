#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// What container tools see of the user: where images, logins and registries are set up, and how
/// the network is reached. What would change how containers run (APPTAINER_BIND and its like) is
/// left out. `variables` are those of the layer.
base::Environment tool_environment(const base::Environment& user,
                                   const base::Environment& variables);

/// Runs tools that move images, as the user would: with the user's own store and logins.
class ImageTools {
 public:
  /// `place` begins all messages. With a `log` all that the tools say is appended there.
  ImageTools(base::ProcessRunner& processes,
             base::Environment environment,
             std::string place,
             std::stop_token stop,
             std::filesystem::path log = {},
             BuildLimits limits = {});

  /// The program's path; nothing when it is not on the PATH.
  std::optional<std::string> find(const std::string& name) const;
  /// A non-zero exit is a result. Throws Error{interrupted|launch}.
  base::ProcessResult run(std::vector<std::string> argv,
                          const std::filesystem::path& directory = {}) const;
  /// What it printed. Throws as `fail` for a non-zero exit.
  std::string ask(const std::string& doing,
                  std::vector<std::string> argv,
                  const std::filesystem::path& directory = {}) const;
  /// Throws Error{access|not_found|transfer|launch|environment} by what the tool said; `launch`
  /// where the engine may not run for this user, which is no failure of what was to be built.
  [[noreturn]] void fail(const std::string& doing, const base::ProcessResult& result) const;

  const std::string& place() const { return place_; }

 private:
  base::ProcessRunner& processes_;
  base::Environment environment_;
  std::string place_;
  std::stop_token stop_;
  std::filesystem::path log_;
  BuildLimits limits_;
};

}  // namespace sabath::env

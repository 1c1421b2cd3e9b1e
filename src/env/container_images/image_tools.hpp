#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// Returns true for Apptainer and Singularity, which run files; other engines have a store of
/// images.
bool runs_image_files(std::string_view engine);

/// Returns the environment of container tools: `variables` of the layer, with the user's settings
/// of images, logins, registries and network. Leaves out settings that change how containers run
/// (APPTAINER_BIND and the like).
base::Environment tool_environment(const base::Environment& user,
                                   const base::Environment& variables);

/// Runs tools that move images, with the user's own store and logins.
class ImageTools {
 public:
  /// `place` begins all messages. With a `log`, appends the tools' output to it.
  ImageTools(base::ProcessRunner& processes,
             base::Environment environment,
             std::string place,
             std::stop_token stop,
             std::filesystem::path log = {},
             BuildLimits limits = {});

  /// Returns the program's path; nothing where it is not on the PATH.
  std::optional<std::string> find(const std::string& name) const;
  /// Runs a tool. A non-zero exit is a result. Throws Error{interrupted|launch}.
  base::ProcessResult run(std::vector<std::string> argv,
                          const std::filesystem::path& directory = {}) const;
  /// Runs a tool and returns its output. Throws as `fail` for a non-zero exit.
  std::string ask(const std::string& doing,
                  std::vector<std::string> argv,
                  const std::filesystem::path& directory = {}) const;
  /// Throws Error{access|not_found|transfer|launch|environment} by the tool's message. `launch`
  /// means that the engine may not run for this user, which is not a failure of the build.
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

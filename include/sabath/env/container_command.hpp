#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// What is to run in a container, and what of this machine it gets to see. All paths are the same
/// inside as outside.
struct ContainerUse {
  std::vector<std::string> argv{};
  base::Environment variables{};  ///< beside those of the image and of the layer
  std::filesystem::path working_directory{};
  std::filesystem::path home{};  ///< what HOME is inside
  std::vector<std::filesystem::path> readable{};
  std::vector<std::filesystem::path> writable{};
  /// Where the engine writes the container's id, for remove_container: does not exist yet. Empty
  /// where nobody will remove it.
  std::filesystem::path id_file{};
  std::filesystem::path scratch{};  ///< for an image on its way into a store; empty: temporary
  bool is_interactive = false;      ///< stdin is passed on
  bool has_terminal = false;
  std::filesystem::path device_directory = "/dev";  ///< where GPUs are looked for
};

/// How the engine is started. Values of variables stand in `environment` and not in `argv`, which
/// everybody can read.
struct ContainerCommand {
  std::vector<std::string> argv{};
  base::Environment environment{};
  /// What removes the container, to which its id is added; empty where nothing can be left.
  std::vector<std::string> removal{};
  std::filesystem::path id_file{};
};

/// The container that `environment` ends with, or nothing.
const spec::BuiltLayer* container_of(const spec::BuiltEnvironment& environment);

/// The command for `use` in the container that `environment` ends with. Where the engine keeps
/// images in a store of the user's, the image is loaded there first out of the prefix, if it went.
/// Of the `user`'s environment only what engines need is taken. Throws
/// Error{environment|launch|interrupted}.
ContainerCommand container_command(const spec::BuiltEnvironment& environment,
                                   const ContainerUse& use,
                                   const base::Environment& user,
                                   base::ProcessRunner& processes,
                                   std::stop_token stop = {});

/// Removes what the command left of its container, which is nothing where it ended by itself. Gives
/// the id of one that could not be removed.
std::optional<std::string> remove_container(const ContainerCommand& command,
                                            base::ProcessRunner& processes);

}  // namespace sabath::env

#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// A command to run in a container, with the paths that it may see. Paths are the same inside and
/// outside.
struct ContainerUse {
  std::vector<std::string> argv{};
  base::Environment variables{};  ///< added to those of the image and of the layer
  std::filesystem::path working_directory{};
  std::filesystem::path home{};  ///< HOME inside
  std::vector<std::filesystem::path> readable{};
  std::vector<std::filesystem::path> writable{};
  /// File for the container's id, read by remove_container. Must not exist yet. Empty: the
  /// container is not removed.
  std::filesystem::path id_file{};
  std::filesystem::path
      scratch{};                ///< for loading an image into a store; empty: the temporary folder
  bool is_interactive = false;  ///< passes stdin on
  bool has_terminal = false;
  std::filesystem::path device_directory = "/dev";  ///< folder of GPU devices
};

/// Command that starts the engine. Values of variables are in `environment`: everybody can read
/// `argv`.
struct ContainerCommand {
  std::vector<std::string> argv{};
  base::Environment environment{};
  /// Command that removes the container, without its id; empty where the engine leaves nothing.
  std::vector<std::string> removal{};
  std::filesystem::path id_file{};
};

/// Returns the last layer of `environment` where it is a container, else null.
const spec::BuiltLayer* container_of(const spec::BuiltEnvironment& environment);

/// Returns the command for `use` in the container at the end of `environment`. For an engine with a
/// store of its own, loads the image from the prefix where the store lacks it. Takes from the
/// `user`'s environment only what engines need. Throws Error{environment|launch|interrupted}.
ContainerCommand container_command(const spec::BuiltEnvironment& environment,
                                   const ContainerUse& use,
                                   const base::Environment& user,
                                   base::ProcessRunner& processes,
                                   std::stop_token stop = {});

/// Removes a container that the command left behind. Returns the id of one that could not be
/// removed.
std::optional<std::string> remove_container(const ContainerCommand& command,
                                            base::ProcessRunner& processes);

}  // namespace sabath::env

#pragma once

#include "images/image_tools.hpp"
#include "toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// A container engine of this machine.
struct ContainerEngine {
  std::string name{};  ///< "apptainer", "singularity", "podman", "docker"
  std::filesystem::path program{};
  std::string version{};  ///< as it says itself

  /// Apptainer and Singularity run files; the others keep images in a store of their own.
  bool runs_files() const { return runs_files(name); }
  static bool runs_files(std::string_view name) {
    return name == "apptainer" || name == "singularity";
  }
};

/// The first of those that the layer names, or of all, that is on the PATH. Throws
/// Error{environment} where there is none.
ContainerEngine find_engine(const LayerContext& context, Toolchain& toolchain);

/// By which of its names podman or docker has the image: that of its configuration or, in stores
/// of containerd, that of its manifest. Nothing where it has not.
std::optional<std::string> image_in_store(const std::string& program,
                                          const std::vector<std::string>& ids,
                                          const ImageTools& tools);

/// Brings the image of a layout into the store of podman or docker. `work` is scratch.
void load_layout(const std::string& engine,
                 const std::string& program,
                 const std::filesystem::path& layout,
                 const std::filesystem::path& work,
                 const ImageTools& tools);

}  // namespace sabath::env

#pragma once

#include "store/memo.hpp"

#include <sabath/env/environment_layer.hpp>

#include <memory>

namespace sabath::env {

/// What layers are made with.
struct LayerTools {
  base::ProcessRunner& processes;
  std::shared_ptr<Memo> memo;
  /// The user's whole environment: it says how hosts are reached, where modules are found, and
  /// where engines keep images and logins.
  base::Environment user{};
};

/// Programs of the host, found on PATH. Has no prefix. Identified by the versions and digests of
/// the programs.
std::unique_ptr<EnvironmentLayer> make_host_layer(const LayerTools& tools);
/// Modules of Lmod or Environment Modules. Identified by the digests of the modulefiles.
std::unique_ptr<EnvironmentLayer> make_modules_layer(const LayerTools& tools);
/// Code of the recipe or from elsewhere, built and installed into a prefix. Identified by the bytes
/// of the source, the patches, the build system with its options, and the compilers.
std::unique_ptr<EnvironmentLayer> make_source_layer(const LayerTools& tools);
/// Packages of conda channels, installed by micromamba, mamba or conda.
std::unique_ptr<EnvironmentLayer> make_conda_layer(const LayerTools& tools);
/// Python packages in a virtual environment, installed by pip or uv. The Python identifies the
/// layer, too; so do the compilers where packages are built from source.
std::unique_ptr<EnvironmentLayer> make_pip_layer(const LayerTools& tools);
/// An image of a registry, exactly the one that the lock beside the recipe names. For Apptainer and
/// Singularity the prefix has a file of the image. For podman and docker it has an OCI layout, from
/// which each user's store is filled. container_command starts programs in it.
std::unique_ptr<EnvironmentLayer> make_container_layer(const LayerTools& tools);

}  // namespace sabath::env

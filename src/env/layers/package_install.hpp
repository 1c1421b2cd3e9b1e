#pragma once

#include "source/build_steps.hpp"
#include "tools/python.hpp"

#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// Packages that lie on this machine, as they go into a prefix.
struct PackageInstall {
  const LayerBuild& build;
  const Python& python;
  const std::vector<spec::LockedPackage>& packages;
  std::vector<std::filesystem::path> files{};  ///< of each package
  std::optional<std::filesystem::path> uv{};   ///< used where it is there
};

/// Makes a virtual environment in the prefix and installs exactly these files, with their digests
/// checked, without a network and without resolving anything. Wheels first; what is built from
/// source then finds them. Returns the tools that were used. Throws as BuildSteps::run.
std::map<std::string, std::string> install_packages(const PackageInstall& install,
                                                    base::ProcessRunner& processes,
                                                    BuildSteps& steps);

/// Name -> version of the packages in a prefix, by their metadata. Fast: nothing is started.
std::map<std::string, std::string> packages_in(const std::filesystem::path& prefix);

}  // namespace sabath::env

#pragma once

#include "conda_request.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::env {

/// Packages that a request was resolved to, sorted by name.
struct CondaSolution {
  std::vector<CondaPackage> packages{};
  std::string resolver{};  ///< "micromamba 2.0.5 (__glibc=2.36=0 __unix=0=0)"
};

/// Asks micromamba, mamba or conda, the first on the PATH of the layer, to resolve for the platform
/// `subdir` of channels, with the user's network settings only. Throws Error{environment|transfer}
/// with the program's message.
CondaSolution solve_conda(const LockRequest& request,
                          const CondaRequest& wanted,
                          const std::string& subdir,
                          base::ProcessRunner& processes,
                          const base::Environment& user);

/// Packages of channels on this machine, to be installed into a prefix.
struct CondaInstall {
  const LayerBuild& build;
  const std::vector<CondaPackage>& packages;
  std::vector<std::filesystem::path> files{};  ///< one for each package
};

/// Makes the prefix from exactly these files, without a network and without resolving, and checks
/// it. Keeps the variables of the packages' activation scripts in the prefix. Returns what was used
/// and is present. Throws Error{environment} with the tail of the log.
std::map<std::string, std::string> install_conda(const CondaInstall& install,
                                                 base::ProcessRunner& processes);

/// Returns those of `requested` that are Python packages in a finished prefix.
std::vector<std::string> importable_packages(const std::filesystem::path& prefix,
                                             const std::set<std::string>& requested);

/// Returns name -> "version=build" of the packages in a prefix, from the names of its records.
/// Reads no file.
std::map<std::string, std::string> conda_packages_in(const std::filesystem::path& prefix);

/// Returns the variables of the activation scripts of a finished prefix.
std::optional<spec::LoadedModules> activation_of(const std::filesystem::path& prefix);

}  // namespace sabath::env

#pragma once

#include "conda_engine.hpp"
#include "source/build_steps.hpp"

#include <sabath/spec/environment_spec.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::env {

/// Packages of channels that lie on this machine, as they go into a prefix.
struct CondaInstall {
  const LayerBuild& build;
  const std::vector<CondaPackage>& packages;
  std::vector<std::filesystem::path> files{};  ///< of each package
};

/// Makes the prefix of exactly these files, without a network and without resolving anything, and
/// checks that they are there. What the packages' activation scripts set is kept in the prefix.
/// Returns what was used and is present. Throws Error{environment} with the tail of the log.
std::map<std::string, std::string> install_conda(const CondaInstall& install,
                                                 base::ProcessRunner& processes);

/// Which of `requested` are packages of Python, too, in a finished prefix.
std::vector<std::string> importable_packages(const std::filesystem::path& prefix,
                                             const std::set<std::string>& requested);

/// Name -> "version=build" of the packages in a prefix, by the names of its records. Fast: nothing
/// is read.
std::map<std::string, std::string> conda_packages_in(const std::filesystem::path& prefix);

/// What the activation scripts of a finished prefix set; nothing where it is not finished.
std::optional<spec::LoadedModules> activation_of(const std::filesystem::path& prefix);

}  // namespace sabath::env

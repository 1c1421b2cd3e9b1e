#pragma once

#include "source/build_steps.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::env {

/// Checks that exactly the locked packages are there. `present`: name -> version. Throws
/// Error{environment}.
void check_present(const LayerBuild& build, std::map<std::string, std::string> present);

/// Returns name -> version of the packages in a prefix, from their metadata. Starts no program.
std::map<std::string, std::string> packages_in(const std::filesystem::path& prefix);

/// Returns "apple: apple/core.py was changed after it was installed" for each Python package with a
/// changed or missing file, by its RECORD (packaging.python.org, "Recording installed projects").
/// Reads only files touched after `ready`, a file that was written when the prefix was ready.
std::vector<std::string> changed_packages(const std::filesystem::path& prefix,
                                          const std::filesystem::path& ready);

/// Returns what a layer expects beyond its packages: commands, shared libraries, the variables of
/// stages, and importable modules: those that it names, else those of the requested packages.
std::vector<std::string> package_expectations(const LayerContext& context,
                                              const std::vector<std::string>& requested);

/// Checks these expectations of a finished prefix, with the variables of stages. Programs must be
/// in its bin folder, and every shared library must be found or lie in the prefix. The modules that
/// the layer names must be importable, else those of `distributions`. `built` has the variables of
/// the prefix. Returns the libraries from outside. Throws Error{environment}.
std::map<std::string, std::string> check_packages(const LayerBuild& build,
                                                  const spec::BuiltLayer& built,
                                                  const std::vector<std::string>& distributions,
                                                  base::ProcessRunner& processes);

}  // namespace sabath::env

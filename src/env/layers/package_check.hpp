#pragma once

#include "source/build_steps.hpp"

#include <map>
#include <string>
#include <vector>

namespace sabath::env {

/// Throws Error{environment} unless exactly what was locked is there. `present`: name -> version.
void check_present(const LayerBuild& build, std::map<std::string, std::string> present);

/// What a layer of packages expects beyond them: commands, modules that it names, or else those of
/// the packages that were asked for, shared libraries, and the variables of stages that it is
/// checked with.
std::vector<std::string> package_expectations(const LayerContext& context,
                                              const std::vector<std::string>& requested);

/// Checks a finished prefix for that, with the variables that stages get: the programs are in its
/// bin folder; the modules that the layer names can be imported, or where it names none, those that
/// `distributions` brought; every shared library is found, or lies somewhere in the prefix. Returns
/// the libraries from outside. `built` has what is set where the prefix is used. Throws
/// Error{environment}.
std::map<std::string, std::string> check_packages(const LayerBuild& build,
                                                  const spec::BuiltLayer& built,
                                                  const std::vector<std::string>& distributions,
                                                  base::ProcessRunner& processes);

}  // namespace sabath::env

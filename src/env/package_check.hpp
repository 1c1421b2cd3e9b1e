#pragma once

#include "build_steps.hpp"

#include <map>
#include <string>
#include <vector>

namespace sabath::env {

/// What a prefix with packages must hold before it is ready. Each throws Error{environment}.

/// Exactly what was locked is there. `present`: name -> version.
void check_present(const LayerBuild& build, std::map<std::string, std::string> present);
/// The programs that the layer promises are in its bin folder.
void check_commands(const LayerBuild& build);
/// The modules that the layer names can be imported; where it names none, those that
/// `distributions` brought. Does nothing where there are none.
void check_imports(const LayerBuild& build,
                   const std::vector<std::string>& distributions,
                   BuildSteps& steps);
/// Every shared library is found, or lies somewhere in the prefix. Returns those from outside.
std::map<std::string, std::string> check_libraries(const LayerBuild& build,
                                                   base::ProcessRunner& processes,
                                                   const base::Environment& running);

}  // namespace sabath::env

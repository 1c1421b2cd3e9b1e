#pragma once

#include "build_steps.hpp"
#include "toolchain.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace sabath::env {

/// What cmake and make need to build one source layer.
struct SourceBuild {
  const LayerBuild& build;
  std::filesystem::path source{};                ///< a copy that may be written
  std::map<std::string, std::string> options{};  ///< with the defaults
  base::Environment environment{};               ///< with CC, CXX and FC
  Toolchain& toolchain;
};

/// cmake --install, or make install, into the prefix. Both return the tools that they used.
std::map<std::string, std::string> build_with_cmake(const SourceBuild& build, BuildSteps& steps);
std::map<std::string, std::string> build_with_make(const SourceBuild& build, BuildSteps& steps);

/// A tool that the build cannot do without. Throws Error{environment}.
Tool require_tool(const SourceBuild& build, const std::string& name);
/// How many compilations may run at once: the limit, else the CPUs that this process may use.
std::string jobs_of(const BuildLimits& limits);

}  // namespace sabath::env

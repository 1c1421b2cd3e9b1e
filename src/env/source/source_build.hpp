#pragma once

#include "build_steps.hpp"
#include "tools/toolchain.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace sabath::env {

/// What build systems need to build one source layer.
struct SourceBuild {
  const LayerBuild& build;
  std::filesystem::path source{};                ///< a copy that may be written
  std::map<std::string, std::string> options{};  ///< with the defaults
  base::Environment environment{};               ///< with CC, CXX and FC
  Toolchain& toolchain;
};

/// Each builds and installs into the prefix, and returns the tools that it used.
std::map<std::string, std::string> build_with_cmake(const SourceBuild& build, BuildSteps& steps);
std::map<std::string, std::string> build_with_make(const SourceBuild& build, BuildSteps& steps);
std::map<std::string, std::string> build_with_autotools(const SourceBuild& build,
                                                        BuildSteps& steps);
std::map<std::string, std::string> build_with_steps(const SourceBuild& build, BuildSteps& steps);

/// What configure and its Makefiles see: compilers, and where libraries are found at run time.
base::Environment autotools_environment(const SourceBuild& build);
/// A step with its placeholders replaced. Throws Error{usage} for an unknown one.
std::vector<std::string> expand_step(const std::vector<std::string>& step,
                                     const std::map<std::string, std::string>& values,
                                     const std::string& place);

/// A tool that the build cannot do without. Throws Error{environment}.
Tool require_tool(const SourceBuild& build, const std::string& name);
/// How many compilations may run at once: the limit, else the CPUs that this process may use.
std::string jobs_of(const BuildLimits& limits);

}  // namespace sabath::env

#pragma once

#include "build_steps.hpp"
#include "tools/toolchain.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// A language of source layers, with the settings that name its compiler.
struct Language {
  std::string_view name{};            ///< as in a document
  std::string_view variable{};        ///< environment, make
  std::string_view cmake_variable{};  ///< option of cmake
  std::array<std::string_view, 3> usual{};
  std::string_view package{};  ///< of Debian
};

inline constexpr std::array<Language, 3> languages{
    {{"c", "CC", "CMAKE_C_COMPILER", {"cc", "gcc", "clang"}, "gcc"},
     {"c++", "CXX", "CMAKE_CXX_COMPILER", {"c++", "g++", "clang++"}, "g++"},
     {"fortran", "FC", "CMAKE_Fortran_COMPILER", {"gfortran", "flang", "ifx"}, "gfortran"}}};

/// Returns the compiler of each language of the layer: that of its options, else of the variables
/// (the layers', the user's), else the first of the usual names. Throws Error{environment} that
/// names all missing ones.
std::map<std::string, Tool> find_compilers(const LayerContext& context, Toolchain& toolchain);

/// Parameters of a build system for one source layer.
struct SourceBuild {
  const LayerBuild& build;
  std::filesystem::path source{};                ///< a writable copy
  std::map<std::string, std::string> options{};  ///< including defaults
  base::Environment environment{};               ///< including CC, CXX and FC
  Toolchain& toolchain;
};

/// Build and install into the prefix. Return the tools that were used.
std::map<std::string, std::string> build_with_cmake(const SourceBuild& build, BuildSteps& steps);
std::map<std::string, std::string> build_with_make(const SourceBuild& build, BuildSteps& steps);
std::map<std::string, std::string> build_with_autotools(const SourceBuild& build,
                                                        BuildSteps& steps);
std::map<std::string, std::string> build_with_steps(const SourceBuild& build, BuildSteps& steps);

/// Returns the environment of configure and make: compilers, and run paths of libraries.
base::Environment autotools_environment(const SourceBuild& build);
/// Replaces the placeholders of a step. Throws Error{usage} for an unknown one.
std::vector<std::string> expand_step(const std::vector<std::string>& step,
                                     const std::map<std::string, std::string>& values,
                                     const std::string& place);

/// Throws Error{environment} that names the missing programs of the build system.
void require_build_tools(const LayerContext& context, Toolchain& toolchain);
/// Returns a required tool. Throws Error{environment} without it.
Tool require_tool(const SourceBuild& build, const std::string& name);
/// Returns the number of parallel compilations: the limit, else the CPUs of this process.
std::string jobs_of(const BuildLimits& limits);

}  // namespace sabath::env

#pragma once

#include "toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// A language of source layers, and how build systems are told which compiler to take.
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

/// The compiler of each language that the layer names: the one of its options, of the variables
/// (the layers', the user's), or the first of the usual names. Throws Error{environment} that names
/// all that are missing.
std::map<std::string, Tool> find_compilers(const LayerContext& context, Toolchain& toolchain);

}  // namespace sabath::env

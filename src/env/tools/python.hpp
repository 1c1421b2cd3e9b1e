#pragma once

#include "store/memo.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace sabath::env {

/// An interpreter that environments can be made of.
struct Python {
  std::filesystem::path executable{};  ///< never of somebody's virtual environment; no link
  std::string implementation{};        ///< "cpython"
  std::string version{};               ///< "3.11.7"
  std::string tag{};                   ///< "cp311", as in names of wheels
  std::string platform{};              ///< "linux-x86_64"
  std::string build{};                 ///< what it says of its own making; identifies nothing
  std::string pip{};                   ///< version of the pip that it has; empty without
};

/// The interpreter that the layer asks for, found on the PATH of its variables; what it says of
/// itself is remembered. Throws Error{environment} that says what is there instead.
Python find_python(const LayerContext& context, base::ProcessRunner& processes, Memo& memo);

}  // namespace sabath::env

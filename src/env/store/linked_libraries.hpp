#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// What the programs and shared libraries of a prefix are linked with.
struct LinkedLibraries {
  std::map<std::string, std::string> found{};  ///< "libm.so.6" -> its path
  std::vector<std::string> missing{};          ///< "bin/tool needs libx.so.1"
};

/// Asks `ldd`, which runs the dynamic loader and so nothing but what was just built. Nothing when
/// there is no ldd on the PATH of `environment`.
std::optional<LinkedLibraries> linked_libraries(base::ProcessRunner& processes,
                                                const std::filesystem::path& prefix,
                                                const base::Environment& environment,
                                                const std::stop_token& stop);

}  // namespace sabath::env

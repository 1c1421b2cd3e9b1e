#pragma once

#include <sabath/env/environment_layer.hpp>

#include <functional>
#include <map>
#include <string>

namespace sabath::env {

/// Asks `ldd`, which runs only the dynamic loader, how the programs and libraries of a built prefix
/// are linked. Returns "library.libm.so.6" -> path; nothing without ldd on the PATH of
/// `environment`. Throws Error{environment}, with `hint`, for "bin/tool needs libx.so.1" that
/// `may_be_missing` does not accept.
std::map<std::string, std::string> check_libraries(
    const LayerBuild& build,
    base::ProcessRunner& processes,
    const base::Environment& environment,
    const std::string& hint,
    const std::function<bool(const std::string& text)>& may_be_missing = {});

}  // namespace sabath::env

#pragma once

#include <map>
#include <string>

namespace sabath::env {

/// What every layer's key depends on: "platform.architecture" (x86_64), "platform.os" (debian 12)
/// and "platform.libc" (glibc 2.36). What a host does not tell is left out.
std::map<std::string, std::string> platform_facts();

/// "x86-64-v3": which of the psABI's levels the processor has. For what is compiled by code that
/// may ask for the processor's own instructions.
std::string architecture_level();

}  // namespace sabath::env

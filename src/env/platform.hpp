#pragma once

#include <map>
#include <string>

namespace sabath::env {

/// What every layer's key depends on: "platform.architecture" (x86_64), "platform.os" (debian 12)
/// and "platform.libc" (glibc 2.36). What a host does not tell is left out.
std::map<std::string, std::string> platform_facts();

}  // namespace sabath::env

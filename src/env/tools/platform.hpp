#pragma once

#include <map>
#include <string>

namespace sabath::env {

/// Returns the platform of this machine as locks name it: "linux-x86_64".
std::string platform_here();

/// Returns the facts of every layer's key: "platform.architecture" (x86_64), "platform.os" (debian
/// 12) and "platform.libc" (glibc 2.36). Leaves out unknown ones.
std::map<std::string, std::string> platform_facts();

/// Returns the psABI level of the processor: "x86-64-v3". For builds that may use the processor's
/// own instructions.
std::string architecture_level();

}  // namespace sabath::env

#pragma once

#include <sabath/base/process/command.hpp>

#include <string>
#include <vector>

namespace sabath::base {

/// The value of a variable; `otherwise` where it is not set.
std::string variable_of(const Environment& environment,
                        const std::string& name,
                        const std::string& otherwise = {});

/// The texts as execve takes them; valid while they do not change.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace sabath::base

#pragma once

#include "python.hpp"

#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// A machine that packages are resolved for and that is not this one.
struct PipTarget {
  std::string platform{};  ///< "linux-aarch64"
  std::string version{};   ///< of Python: "3.12", or with a third number
  std::string tag{};       ///< "cp312"
};

/// What of `target` is given, and for the rest what `python` is. Throws Error{usage}; `place`
/// begins its message.
PipTarget pip_target(const LockTarget& target, const Python& python, const std::string& place);

/// pip's options for wheels of that machine, for a C library as old as that of RHEL 8. `folder` is
/// never made.
std::vector<std::string> wheel_options(const PipTarget& target,
                                       const std::filesystem::path& folder);

/// `python -m pip` that evaluates markers ("platform_machine == 'aarch64'") as that machine would,
/// where pip by itself takes those of the interpreter that it runs in. Then it holds the report
/// against what the packages say that they need there, and fails where anything is missing or too
/// much. Arguments of pip follow.
std::vector<std::string> pip_command_for(const PipTarget& target,
                                         const std::filesystem::path& python,
                                         const std::filesystem::path& requirements,
                                         const std::filesystem::path& report);

}  // namespace sabath::env

#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What the module system is asked for.
struct ModuleRequest {
  std::filesystem::path init{};        ///< the script that defines `module` in a bash
  std::vector<std::string> folders{};  ///< for `module use`, before anything is loaded
  std::vector<std::string> modules{};  ///< loaded in this order
  base::Environment variables{};       ///< complete; what the session starts from
};

/// One `module load`, and what was loaded after it.
struct ModuleStep {
  std::string asked{};
  int status = 0;
  std::vector<std::string> loaded{};  ///< full names, in the order of loading
};

/// What a shell saw. A load that fails ends it, so `steps` may be short.
struct ModuleSession {
  base::Environment before{};  ///< of the shell before the module system was initialised
  std::vector<ModuleStep> steps{};
  base::Environment after{};
  std::string said{};  ///< the end of what the module system printed
};

/// Runs one bash that initialises the module system and loads. Throws Error{environment} where
/// that gives no answer; `place` begins its message.
ModuleSession run_module_session(base::ProcessRunner& processes,
                                 const ModuleRequest& request,
                                 const std::string& place);

/// The script to initialise with: of the module system that `user`'s shell has, else of one of the
/// usual places. Nothing where there is none.
std::optional<std::filesystem::path> find_module_system(const base::Environment& user);

/// "a:b" as a list, without what is empty.
std::vector<std::string> split_list(std::string_view text);

}  // namespace sabath::env

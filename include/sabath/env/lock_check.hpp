#pragma once

#include <sabath/spec/environment_spec.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// Says of each layer of all variants why its lock is missing or out of date; empty where all locks
/// are current. Reads files of the recipe alone: asks no index and starts no program. Throws
/// Error{usage} for an edited lock, Error{not_found|usage} for a file of requirements.
std::vector<std::string> lock_problems(const spec::EnvironmentSpec& spec,
                                       const std::filesystem::path& recipe_directory);

}  // namespace sabath::env

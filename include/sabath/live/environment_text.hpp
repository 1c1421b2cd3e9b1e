#pragma once

#include <sabath/env/environment.hpp>
#include <sabath/env/prefix_image.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::live {

/// Table of the layers of an environment that is ready.
std::string built_text(const spec::BuiltEnvironment& environment);
/// A layer in the cache, with the recipes and the runs (oldest first) that have it.
std::string entry_text(const env::EnvironmentEntry& entry,
                       const std::vector<std::string>& recipes,
                       const std::vector<std::string>& runs);
/// What was locked, beside what was locked `before`, and the file that has it.
std::string lock_text(const spec::PackageLock& lock,
                      const std::optional<spec::PackageLock>& before,
                      const std::filesystem::path& path);
/// Table of the images that were made of an environment's layers.
std::string pack_text(const std::vector<env::PrefixImage>& images);

}  // namespace sabath::live

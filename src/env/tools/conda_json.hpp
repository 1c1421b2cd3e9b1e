#pragma once

#include "conda_request.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// Reads the answer to a dry run of micromamba, mamba or conda. Completes answers of conda before
/// 4.4 from its lists beneath `package_cache`. Throws Error{environment}.
std::vector<CondaPackage> read_conda_solution(const std::string& answer,
                                              const std::filesystem::path& package_cache,
                                              const std::string& place);
/// Returns the reason of a failure in the answer, if any.
std::string read_conda_problem(const std::string& answer);
/// Reads "__glibc=2.36=0 __unix=0=0" from `info --json`.
std::string read_virtual_packages(const std::string& answer);
/// Returns a settings file in JSON, which is also YAML.
std::string conda_settings(const std::vector<std::string>& channels, bool is_strict);

/// Record of an installed package in a prefix.
struct InstalledPackage {
  CondaPackage package{};
  /// Length of the shortest placeholder in a program or library: the limit for the prefix.
  std::optional<std::size_t> longest_prefix{};
};
/// Returns the same for a package extracted to a folder.
std::optional<std::size_t> longest_prefix_of(const std::filesystem::path& extracted);
/// Reads the records of a prefix. Throws Error{environment}.
std::vector<InstalledPackage> read_conda_meta(const std::filesystem::path& prefix);

}  // namespace sabath::env

#pragma once

#include "conda_package.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// Reads the answer to a dry run of micromamba, mamba or conda. What conda before 4.4 leaves out is
/// taken from the lists that it fetched, beneath `package_cache`. Throws Error{environment}.
std::vector<CondaPackage> read_conda_solution(const std::string& answer,
                                              const std::filesystem::path& package_cache,
                                              const std::string& place);
/// Why it failed, in its words, where the answer has them.
std::string read_conda_problem(const std::string& answer);
/// "__glibc=2.36=0 __unix=0=0" out of its `info --json`.
std::string read_virtual_packages(const std::string& answer);
/// A file of settings that is also YAML.
std::string conda_settings(const std::vector<std::string>& channels, bool is_strict);

/// What is noted in a prefix of a package that was installed.
struct InstalledPackage {
  CondaPackage package{};
  /// Length of the shortest placeholder in a program or library: no prefix can be longer. Nothing
  /// where there is none.
  std::optional<std::size_t> longest_prefix{};
};
/// The same of a package that was extracted to a folder.
std::optional<std::size_t> longest_prefix_of(const std::filesystem::path& extracted);
/// Throws Error{environment} for what cannot be read.
std::vector<InstalledPackage> read_conda_meta(const std::filesystem::path& prefix);

}  // namespace sabath::env

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::app {

/// The first symbolic link on the way from `root` to `path`, which lies beneath it. A stage can
/// exchange any folder of its run for a link.
std::optional<std::filesystem::path> link_beneath(const std::filesystem::path& root,
                                                  const std::filesystem::path& path);

/// Throws Error{storage} that names the first link on the way from `root` to `path`.
void refuse_links(const std::filesystem::path& root, const std::filesystem::path& path);

/// Makes the folders that are missing. Throws Error{storage} where one on the way is a link.
void make_real_folders(const std::filesystem::path& root, const std::filesystem::path& path);

/// Why a declared output, which lies beneath `root`, is not acceptable, or an empty text.
std::string output_problem(const std::filesystem::path& root, const std::filesystem::path& file);

}  // namespace sabath::app

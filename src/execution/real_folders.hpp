#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::execution {

/// The first symbolic link on the way from `root` to `path`, which lies beneath it. A stage can
/// exchange any folder of its run for a link.
std::optional<std::filesystem::path> link_beneath(const std::filesystem::path& root,
                                                  const std::filesystem::path& path);

/// Throws Error{storage} that names the first link on the way from `root` to `path`.
void refuse_links(const std::filesystem::path& root, const std::filesystem::path& path);

/// Makes the folders that are missing. Throws Error{storage} where one on the way is a link.
void make_real_folders(const std::filesystem::path& root, const std::filesystem::path& path);

/// The link by which a file named beneath a stage's folder of outputs lies elsewhere. A link that
/// stays within that folder (`latest` of checkpoints) is none.
std::optional<std::filesystem::path> way_out(const std::filesystem::path& run,
                                             const std::filesystem::path& outputs,
                                             const std::filesystem::path& file);

/// Why a declared output, which lies beneath `outputs`, is not acceptable, or an empty text.
std::string output_problem(const std::filesystem::path& run,
                           const std::filesystem::path& outputs,
                           const std::filesystem::path& file);

}  // namespace sabath::execution

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::execution {

/// Returns the first symbolic link on the way from `root` down to `path`. A stage can replace any
/// directory of its run by a link.
std::optional<std::filesystem::path> link_beneath(const std::filesystem::path& root,
                                                  const std::filesystem::path& path);

/// Throws Error{storage} that names the first link on the way from `root` to `path`.
void refuse_links(const std::filesystem::path& root, const std::filesystem::path& path);

/// Creates missing directories. Throws Error{storage} where one on the way is a link.
void make_real_folders(const std::filesystem::path& root, const std::filesystem::path& path);

/// Returns the link by which a file, named beneath a stage's output directory, lies elsewhere. A
/// link that stays within that directory (`latest` of checkpoints) does not count.
std::optional<std::filesystem::path> way_out(const std::filesystem::path& run,
                                             const std::filesystem::path& outputs,
                                             const std::filesystem::path& file);

/// What output_problem() returns of an output that is not there.
inline constexpr const char* output_not_made = "was not made";

/// Returns why a declared output beneath `outputs` is not acceptable; empty where it is.
std::string output_problem(const std::filesystem::path& run,
                           const std::filesystem::path& outputs,
                           const std::filesystem::path& file);

}  // namespace sabath::execution

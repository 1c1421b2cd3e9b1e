#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::sharing {

/// Relative paths of regular files beneath a folder that a pattern matches ('*' crosses folders),
/// sorted. Links are left alone.
std::vector<std::string> files_matching(const std::filesystem::path& folder,
                                        const std::string& pattern);

/// How a file is packed, by its bytes: "tar", "zip", "gz", "bz2", "xz" or "zst"; "" for another
/// file, and for one that cannot be read. A compressed tar is "tar".
std::string packing_of_file(const std::filesystem::path& file);

/// All files that end in .json beneath a folder, sorted.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder);

}  // namespace sabath::sharing

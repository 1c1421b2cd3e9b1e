#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace sabath::base {

/// Returns at most `most_bytes` of the end of a file that may still grow; empty if it cannot be
/// read.
std::string read_file_end(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace sabath::base

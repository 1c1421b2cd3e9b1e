#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace sabath::base {

/// Returns at most `most_bytes` of the end of a file that may still grow; empty if it cannot be
/// read.
std::string read_file_end(const std::filesystem::path& path, std::size_t most_bytes);

/// The last lines, at most `most`, that are not blank; printable, with `between` them.
std::string last_lines(std::string_view text, std::size_t most, std::string_view between);

}  // namespace sabath::base

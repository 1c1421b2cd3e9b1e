#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>

namespace sabath::execution {

/// Bytes that a copy of a file, or of a folder with all in it, takes. Throws Error{storage},
/// fs::filesystem_error.
std::uint64_t copied_bytes(const std::filesystem::path& source);

/// Copies a file, or a folder with all in it, to where nothing is yet, and makes the copy
/// read-only. Links are followed, but for those to a folder that is copied anyway. Throws
/// Error{storage|interrupted}, fs::filesystem_error.
void copy_files(const std::filesystem::path& source,
                const std::filesystem::path& copy,
                const std::stop_token& stop);

}  // namespace sabath::execution

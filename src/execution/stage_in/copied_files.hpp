#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>

namespace sabath::execution {

/// Returns the bytes that a copy of a file, or of a directory with everything in it, takes. Throws
/// Error{storage}, fs::filesystem_error.
std::uint64_t copied_bytes(const std::filesystem::path& source);

/// Copies a file, or a directory with everything in it, to a new path, and makes the copy
/// read-only. Follows links, except those to a directory that is copied anyway. Throws
/// Error{storage|interrupted}, fs::filesystem_error.
void copy_files(const std::filesystem::path& source,
                const std::filesystem::path& copy,
                const std::stop_token& stop);

}  // namespace sabath::execution

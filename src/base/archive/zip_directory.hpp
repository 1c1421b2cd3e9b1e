#pragma once

#include <cstddef>
#include <filesystem>

namespace sabath::base {

/// Does the file end with the end record of a zip file?
bool has_zip_end(const std::filesystem::path& path);

/// Checks a zip file before libarchive reads it, since libarchive takes what it finds. The
/// directory must be whole and list every member. Each member must lie where the directory says,
/// with the same name. Returns how many members it has. Throws Error{integrity} that names the
/// file.
std::size_t check_zip_directory(const std::filesystem::path& path);

}  // namespace sabath::base

#pragma once

#include <cstddef>
#include <filesystem>

namespace sabath::base {

/// Does the file end with the end record of a zip file?
bool has_zip_end(const std::filesystem::path& path);

/// libarchive takes what it finds; so this is checked before: the directory is whole, each member
/// lies where the directory says and has the same name there, and none is left out. Returns how
/// many members it has. Throws Error{integrity} that names the file.
std::size_t check_zip_directory(const std::filesystem::path& path);

}  // namespace sabath::base

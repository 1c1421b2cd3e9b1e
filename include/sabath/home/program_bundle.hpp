#pragma once

#include <filesystem>
#include <vector>

namespace sabath::home {

/// Folder beside a copied program that it searches first for shared libraries (the RPATH that
/// src/cli/CMakeLists.txt sets).
constexpr const char* bundled_libraries = "sabath-lib";

/// Collects what this program needs to start on a node without a shared file system. Returns its
/// file, and a folder, made in `folder`, with a link to each shared library that it has loaded. The
/// C library is left out: the node has its own, with its loader. Throws Error{storage}.
std::vector<std::filesystem::path> program_bundle(const std::filesystem::path& program,
                                                  const std::filesystem::path& folder);

}  // namespace sabath::home

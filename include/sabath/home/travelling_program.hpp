#pragma once

#include <filesystem>
#include <vector>

namespace sabath::home {

/// The folder beside a program that travelled in which it looks for its shared libraries first
/// (the RPATH that src/cli/CMakeLists.txt gives it).
constexpr const char* travelling_libraries = "sabath-lib";

/// What goes to a node that sees no file of ours, so that this program starts there: its file, and
/// a folder, made in `folder`, with a link to each shared library that it has loaded. Those of the
/// C library stay here: they are the node's, with its loader. Throws Error{storage}.
std::vector<std::filesystem::path> travelling_program(const std::filesystem::path& program,
                                                      const std::filesystem::path& folder);

}  // namespace sabath::home

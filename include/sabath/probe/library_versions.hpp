#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace sabath::probe {

/// Versions and numbers of threads that a library reports.
struct LibraryAnswer {
  std::map<std::string, std::string> versions{};  ///< "blas" -> "OpenBLAS 0.3.21 (Haswell)"
  std::map<std::string, std::string> threads{};   ///< "openblas" -> how many it would use

  bool operator==(const LibraryAnswer&) const = default;
};

/// Returns true for file names of libraries that can be asked (docs/formats/record.md lists them).
bool can_be_asked(std::string_view file_name);

/// Loads the library into this process and asks it. The library's code runs with this process's
/// environment and affinity, by which OpenBLAS and others choose kernels. It may crash, hang or
/// print: use a process of its own. Throws Error{launch} with the loader's message.
LibraryAnswer ask_library(const std::filesystem::path& library);

/// Writes the answer as lines for a pipe, and reads it back from among other output.
std::string answer_lines(const LibraryAnswer& answer);
LibraryAnswer answer_from(std::string_view output);

}  // namespace sabath::probe

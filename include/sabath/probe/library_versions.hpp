#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace sabath::probe {

/// What a library says of itself.
struct LibraryAnswer {
  std::map<std::string, std::string> versions{};  ///< "blas" -> "OpenBLAS 0.3.21 (Haswell)"
  std::map<std::string, std::string> threads{};   ///< "openblas" -> how many it would use

  bool operator==(const LibraryAnswer&) const = default;
};

/// Is a library of this file name one that can be asked (docs/formats/record.md lists them)?
bool can_be_asked(std::string_view file_name);

/// Loads the library into this process and asks it. So it runs code of the library, with this
/// process's environment and affinity, which OpenBLAS and others choose their code by: meant for a
/// process of its own, since it may crash, hang or print. Throws Error{launch} with the loader's
/// words when it cannot be loaded.
LibraryAnswer ask_library(const std::filesystem::path& library);

/// A line of the answer for a pipe, among what the library itself may print; and back.
std::string answer_lines(const LibraryAnswer& answer);
LibraryAnswer answer_from(std::string_view output);

}  // namespace sabath::probe

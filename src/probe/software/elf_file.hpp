#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// What an ELF file says of itself.
struct ElfFacts {
  std::string build_id{};                ///< hexadecimal; empty: it has none
  std::vector<std::string> compilers{};  ///< of its section .comment, each once, sorted
};

/// Nothing when it is no ELF file of this machine's word size and byte order, or cannot be read.
/// Reads headers, notes and that one section only; whatever offsets a damaged file has.
std::optional<ElfFacts> read_elf(const std::filesystem::path& file);

/// "GCC 12.2.0" for "GCC: (Debian 12.2.0-14) 12.2.0", "clang 14.0.6" for "Debian clang version
/// 14.0.6"; other words as they are.
std::string compiler_name(const std::string& comment);

}  // namespace sabath::probe

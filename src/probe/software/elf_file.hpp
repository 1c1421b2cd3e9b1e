#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::probe {

/// Facts in an ELF file.
struct ElfFacts {
  std::string build_id{};                ///< hexadecimal; empty: none
  std::vector<std::string> compilers{};  ///< from section .comment, each once, sorted
};

/// Reads headers, notes and section .comment; safe for damaged files. Nothing for unreadable files
/// and those that are not ELF of this machine's word size and byte order.
std::optional<ElfFacts> read_elf(const std::filesystem::path& file);

/// Returns "GCC 12.2.0" for "GCC: (Debian 12.2.0-14) 12.2.0", "clang 14.0.6" for "Debian clang
/// version 14.0.6"; other texts unchanged.
std::string compiler_name(const std::string& comment);

}  // namespace sabath::probe

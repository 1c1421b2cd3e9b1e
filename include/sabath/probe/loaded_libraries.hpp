#pragma once

#include <sabath/probe/mapped_file.hpp>
#include <sabath/spec/software.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::probe {

/// A file that a run had loaded, identified by its bytes.
struct IdentifiedFile {
  spec::LoadedLibrary library{};
  bool is_program = false;
  bool is_first = false;  ///< as in MappedFile
  bool is_hidden = false;
};

struct IdentifiedFiles {
  std::vector<IdentifiedFile> files{};  ///< sorted by path
  std::vector<std::string> notes{};     ///< on files that changed, are gone or cannot be read
};

using HashedBytes = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Returns digests and build ids of the mapped files. Notes and leaves out files that changed since
/// or cannot be read; leaves out files that are not ELF. Keeps digests in
/// `state_directory`/libraries by path, inode, size and times, so that a file is hashed once. A
/// stop leaves out the files not hashed yet. Calls `report` with the bytes hashed and the total,
/// from several threads.
IdentifiedFiles identify_files(const std::vector<MappedFile>& seen,
                               const std::filesystem::path& state_directory,
                               std::stop_token stop = {},
                               const HashedBytes& report = {});

/// Returns the compilers named in the section .comment of an ELF file, as "GCC 12.2.0", each once.
std::vector<std::string> compilers_of(const std::filesystem::path& file);

}  // namespace sabath::probe

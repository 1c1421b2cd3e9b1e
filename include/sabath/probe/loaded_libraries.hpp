#pragma once

#include <sabath/probe/library_watch.hpp>
#include <sabath/spec/software.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::probe {

/// A file that a run had loaded, by its bytes.
struct IdentifiedFile {
  spec::LoadedLibrary library{};
  bool is_program = false;
  bool is_first = false;  ///< as in MappedFile
  bool is_hidden = false;
};

struct IdentifiedFiles {
  std::vector<IdentifiedFile> files{};  ///< sorted by path
  std::vector<std::string> notes{};     ///< of files that changed, are gone, cannot be read
};

using HashedBytes = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Digests and build ids of what was seen, from the files as they are now. A file that is not as it
/// was when it was seen, or cannot be read, is noted and left out; what is no ELF file is left out.
/// Digests are kept in `state_directory`/libraries by path, inode, size and times: what was hashed
/// once is not read again. A stop leaves out what is still to be hashed. `tell` hears of bytes
/// hashed and of all that have to be, from several threads.
IdentifiedFiles identify_files(const std::vector<MappedFile>& seen,
                               const std::filesystem::path& state_directory,
                               std::stop_token stop = {},
                               const HashedBytes& tell = {});

/// The compilers that an ELF file's section .comment names, as "GCC 12.2.0", each once; empty where
/// it names none.
std::vector<std::string> compilers_of(const std::filesystem::path& file);

}  // namespace sabath::probe

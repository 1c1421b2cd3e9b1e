#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// One regular file or link of a source tree.
struct SourceFile {
  std::string path{};  ///< relative to the tree
  bool executable = false;
  std::string link_target{};  ///< of a symbolic link
  std::uint64_t size_bytes = 0;
  std::string stamp{};  ///< FileStamp::text; empty for a link
  base::WallTime changed{};
};

/// What belongs to a source tree, sorted by path: all but the folders of version control, compiled
/// Python, and build trees of CMake that somebody left there. Empty folders do not count. Throws
/// Error{not_found} when there is no such folder; Error{usage} for a link that leads out of the
/// tree and for what is neither file, link nor folder.
std::vector<SourceFile> list_source(const std::filesystem::path& root);

/// Of the sorted list of kind (file, executable, link), content or target, and path.
base::Digest digest_source(const std::filesystem::path& root, const std::vector<SourceFile>& files);

/// Copies into `destination` with the times of the files, which make compares; all of it writable
/// by its owner.
void copy_source(const std::filesystem::path& root,
                 const std::vector<SourceFile>& files,
                 const std::filesystem::path& destination);

}  // namespace sabath::env

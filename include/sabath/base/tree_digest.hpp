#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sabath::base {

/// One regular file or symbolic link beneath a folder.
struct TreeFile {
  std::string path{};  ///< relative to the folder
  bool executable = false;
  std::string link_target{};  ///< of a symbolic link
  std::uint64_t size_bytes = 0;
};

/// Whether to leave out an entry with all beneath it. May throw for an entry that must not exist.
using LeaveOut = std::function<bool(const std::filesystem::directory_entry&)>;

/// Lists the files beneath a folder, sorted by path, without folders of version control, compiled
/// Python and what `leave_out` names. Links are not followed; empty folders, pipes and devices do
/// not count. Throws Error{not_found|storage}.
std::vector<TreeFile> list_tree(const std::filesystem::path& root, const LeaveOut& leave_out = {});

/// Returns the sha256 of a file, perhaps from a memo.
using FileDigest = std::function<Digest(const std::filesystem::path&)>;

/// Computes a sha256 over kind (file, executable, link), content or target, and path of each file.
/// Reads each file if `digest_of` is empty.
Digest tree_digest(const std::filesystem::path& root,
                   const std::vector<TreeFile>& files,
                   const FileDigest& digest_of = {});
/// The same for all files that `list_tree` finds.
Digest tree_digest(const std::filesystem::path& root);

}  // namespace sabath::base

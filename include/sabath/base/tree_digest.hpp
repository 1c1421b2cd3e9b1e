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

/// Is an entry, with all beneath it, no part of the tree? It may throw where one must not be there.
using LeaveOut = std::function<bool(const std::filesystem::directory_entry&)>;

/// What lies beneath a folder, sorted by path, without the folders of version control and compiled
/// Python, and without what `leave_out` names. Links are not followed; empty folders, pipes and
/// devices do not count. Throws Error{not_found|storage}.
std::vector<TreeFile> list_tree(const std::filesystem::path& root, const LeaveOut& leave_out = {});

/// The sha256 of a file, for who knows some.
using FileDigest = std::function<Digest(const std::filesystem::path&)>;

/// sha256 over kind (file, executable, link), content or target, and path of each file. Without
/// `digest_of` each is read.
Digest tree_digest(const std::filesystem::path& root,
                   const std::vector<TreeFile>& files,
                   const FileDigest& digest_of = {});
/// The same of all that `list_tree` finds.
Digest tree_digest(const std::filesystem::path& root);

}  // namespace sabath::base

#include <sabath/base/error.hpp>
#include <sabath/base/tree_digest.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

bool is_left_out(const fs::path& path) {
  constexpr std::array<std::string_view, 7> names{
      ".git", ".hg", ".svn", ".bzr", "CVS", "__pycache__", ".DS_Store"};
  return std::find(names.begin(), names.end(), path.filename().string()) != names.end();
}

TreeFile file_at(const fs::directory_entry& entry, const fs::path& root) {
  TreeFile file;
  file.path = entry.path().lexically_relative(root).string();
  if (entry.is_symlink()) {
    file.link_target = fs::read_symlink(entry.path()).string();
    return file;
  }
  file.executable = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
  file.size_bytes = entry.file_size();
  return file;
}

}  // namespace

std::vector<TreeFile> list_tree(const fs::path& root, const LeaveOut& leave_out) {
  std::vector<TreeFile> files;
  try {
    for (fs::recursive_directory_iterator at(root), end; at != end; ++at) {
      if (is_left_out(at->path()) || (leave_out && leave_out(*at))) {
        at.disable_recursion_pending();
      } else if (at->is_symlink() || at->is_regular_file()) {
        files.push_back(file_at(*at, root));
      }
    }
  } catch (const fs::filesystem_error& error) {
    const fs::path& place = error.path1().empty() ? root : error.path1();
    throw_errno(place.string(), "cannot be read", error.code().value());
  }
  std::sort(files.begin(), files.end(), [](const TreeFile& a, const TreeFile& b) {
    return a.path < b.path;
  });
  return files;
}

Digest tree_digest(const fs::path& root,
                   const std::vector<TreeFile>& files,
                   const FileDigest& digest_of) {
  Hasher hasher;
  const std::string_view separator("\0", 1);
  for (const TreeFile& file : files) {
    std::string content = file.link_target;
    char kind = 'l';
    if (file.link_target.empty()) {
      const fs::path path = root / file.path;
      content = (digest_of ? digest_of(path) : digest_file(path)).hex;
      kind = file.executable ? 'x' : 'f';
    }
    hasher.update(kind + content);
    hasher.update(separator);
    hasher.update(file.path);
    hasher.update(separator);
  }
  return hasher.finish();
}

Digest tree_digest(const fs::path& root) {
  return tree_digest(root, list_tree(root));
}

}  // namespace sabath::base

#include "tree_digest.hpp"

#include <sabath/base/error.hpp>

#include <set>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;

bool is_left_out(const fs::path& name) {
  return name == ".git" || name == ".hg" || name == ".svn" || name == "__pycache__";
}

std::string line_of(const fs::directory_entry& entry) {
  if (entry.is_symlink()) return "link " + fs::read_symlink(entry.path()).string();
  const auto modes = entry.status().permissions();
  const bool executable = (modes & fs::perms::owner_exec) != fs::perms::none;
  return std::string(executable ? "program " : "file ") + base::digest_file(entry.path()).hex;
}

}  // namespace

base::Digest tree_digest(const fs::path& folder) {
  std::set<std::string> lines;
  try {
    for (fs::recursive_directory_iterator it(folder), end; it != end; ++it) {
      if (is_left_out(it->path().filename())) {
        it.disable_recursion_pending();
        continue;
      }
      if (!it->is_symlink() && !it->is_regular_file()) continue;
      lines.insert(it->path().lexically_relative(folder).string() + '\0' + line_of(*it));
    }
  } catch (const fs::filesystem_error& error) {
    throw base::Error(base::ErrorKind::storage,
                      folder.string() + ": cannot be read: " + error.code().message());
  }
  base::Hasher hasher;
  for (const std::string& line : lines)
    hasher.update(line + '\n');
  return hasher.finish();
}

}  // namespace sabath::app

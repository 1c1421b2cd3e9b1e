#include "source_tree.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <string>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

bool is_build_tree(const fs::path& folder) {
  std::error_code code;
  return fs::exists(folder / "CMakeCache.txt", code);
}

[[noreturn]] void refuse(const fs::path& path,
                         const std::string& problem,
                         const std::string& hint) {
  throw base::Error(base::ErrorKind::usage, path.string() + ": " + problem, hint);
}

void require_inside(const fs::path& link, const fs::path& root) {
  const fs::path target = fs::read_symlink(link);
  if (target.is_absolute() ||
      !base::is_beneath(fs::weakly_canonical(link.parent_path() / target), root)) {
    refuse(link,
           "the link leads out of the source tree, to '" + target.string() + "'",
           "copy what it leads to into the tree: only what lies in it is built and recorded");
  }
}

/// Returns true for files that an earlier build left. Refuses files that cannot be source.
bool is_leftover(const fs::directory_entry& entry, const fs::path& root, bool built_in_place) {
  if (entry.is_symlink()) {
    require_inside(entry.path(), root);
    return false;
  }
  if (built_in_place && entry.path().parent_path() == root) {
    const fs::path name = entry.path().filename();
    if (name == "CMakeCache.txt" || name == "CMakeFiles") return true;
  }
  if (entry.is_directory()) return is_build_tree(entry.path());
  if (!entry.is_regular_file()) {
    refuse(entry.path(), "neither a file nor a folder nor a link", "remove it from the source");
  }
  return false;
}

}  // namespace

std::vector<base::TreeFile> list_source(const fs::path& root) {
  std::error_code code;
  const fs::path real = fs::canonical(root, code);
  if (code) base::throw_errno(root.string(), "cannot read the source", code.value());
  const bool built_in_place = is_build_tree(real);
  return base::list_tree(real, [&](const fs::directory_entry& entry) {
    return is_leftover(entry, real, built_in_place);
  });
}

void copy_source(const fs::path& root,
                 const std::vector<base::TreeFile>& files,
                 const fs::path& destination) {
  try {
    for (const base::TreeFile& file : files) {
      const fs::path to = destination / file.path;
      fs::create_directories(to.parent_path());
      if (!file.link_target.empty()) {
        fs::create_symlink(file.link_target, to);
        continue;
      }
      fs::copy_file(root / file.path, to);
      fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
      fs::last_write_time(to, fs::last_write_time(root / file.path));
    }
  } catch (const fs::filesystem_error& error) {
    base::throw_errno(error.path1().string(), "cannot copy the source", error.code().value());
  }
}

}  // namespace sabath::env

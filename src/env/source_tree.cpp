#include "source_tree.hpp"

#include "memo.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

bool is_left_out(const fs::path& path) {
  constexpr std::array<std::string_view, 7> names{
      ".git", ".hg", ".svn", ".bzr", "CVS", "__pycache__", ".DS_Store"};
  return std::find(names.begin(), names.end(), path.filename().string()) != names.end();
}

bool is_build_tree(const fs::path& folder) {
  std::error_code code;
  return fs::exists(folder / "CMakeCache.txt", code);
}

[[noreturn]] void refuse(const fs::path& path,
                         const std::string& problem,
                         const std::string& hint) {
  throw base::Error(base::ErrorKind::usage, path.string() + ": " + problem, hint);
}

bool is_beneath(const fs::path& path, const fs::path& root) {
  const auto [in_root, in_path] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return in_root == root.end();
}

SourceFile link_at(const fs::path& path, const fs::path& root) {
  const fs::path target = fs::read_symlink(path);
  if (target.is_absolute() ||
      !is_beneath(fs::weakly_canonical(path.parent_path() / target), root)) {
    refuse(path,
           "the link leads out of the source tree, to '" + target.string() + "'",
           "copy what it leads to into the tree: only what lies in it is built and recorded");
  }
  return {path.lexically_relative(root).string(), false, target.string(), 0, {}, {}};
}

SourceFile file_at(const fs::directory_entry& entry, const fs::path& root) {
  const auto stamp = stamp_of(entry.path());
  if (!stamp) base::throw_errno(entry.path().string(), "cannot read", ENOENT);
  const bool executable = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
  return {entry.path().lexically_relative(root).string(),
          executable,
          {},
          entry.file_size(),
          stamp->text,
          stamp->changed};
}

std::vector<SourceFile> list_beneath(const fs::path& root) {
  std::vector<SourceFile> files;
  const bool built_in_place = is_build_tree(root);
  for (fs::recursive_directory_iterator at(root); at != fs::recursive_directory_iterator(); ++at) {
    const fs::directory_entry& entry = *at;
    const std::string name = entry.path().filename().string();
    const bool leftover =
        built_in_place && at.depth() == 0 && (name == "CMakeCache.txt" || name == "CMakeFiles");
    if (is_left_out(entry.path()) || leftover) {
      at.disable_recursion_pending();
    } else if (entry.is_symlink()) {
      files.push_back(link_at(entry.path(), root));
    } else if (entry.is_directory()) {
      if (is_build_tree(entry.path())) at.disable_recursion_pending();
    } else if (entry.is_regular_file()) {
      files.push_back(file_at(entry, root));
    } else {
      refuse(entry.path(), "neither a file nor a folder nor a link", "remove it from the source");
    }
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) {
    return a.path < b.path;
  });
  return files;
}

}  // namespace

std::vector<SourceFile> list_source(const fs::path& root) {
  try {
    return list_beneath(fs::canonical(root));
  } catch (const fs::filesystem_error& error) {
    base::throw_errno(error.path1().string(), "cannot read the source", error.code().value());
  }
}

base::Digest digest_source(const fs::path& root, const std::vector<SourceFile>& files) {
  base::Hasher hasher;
  const std::string_view separator("\0", 1);
  for (const SourceFile& file : files) {
    std::string line = file.link_target;
    char kind = 'l';
    if (file.link_target.empty()) {
      line = base::digest_file(root / file.path).hex;
      kind = file.executable ? 'x' : 'f';
    }
    hasher.update(kind + line);
    hasher.update(separator);
    hasher.update(file.path);
    hasher.update(separator);
  }
  return hasher.finish();
}

void copy_source(const fs::path& root,
                 const std::vector<SourceFile>& files,
                 const fs::path& destination) {
  try {
    for (const SourceFile& file : files) {
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

#include "local_files.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;

/// Regular files beneath a folder. Links are left alone.
std::vector<fs::path> files_beneath(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code unreadable;
    if (it->symlink_status(unreadable).type() == fs::file_type::regular)
      files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<std::string> files_matching(const fs::path& folder, const std::string& pattern) {
  std::vector<std::string> paths;
  for (const fs::path& file : files_beneath(folder)) {
    std::string path = file.lexically_relative(folder).string();
    if (fnmatch(pattern.c_str(), path.c_str(), 0) == 0) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<fs::path> json_files(const fs::path& folder) {
  auto files = files_beneath(folder);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".json"; });
  return files;
}

}  // namespace sabath::sharing

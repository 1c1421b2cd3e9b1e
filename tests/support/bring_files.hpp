#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::test {

/// Brings files into new folders of `home`: by their file: URL, else by the layer's own program.
inline env::BringFiles bring_without_cache(const std::filesystem::path& home) {
  return [home](const std::vector<env::PinnedFile>& files,
                const env::Download& download,
                base::Observer&,
                std::stop_token) {
    const auto folder = base::TempDir(home).release();
    if (files.empty() || files.front().urls.empty()) return download(files, folder);
    std::vector<std::filesystem::path> paths;
    for (const env::PinnedFile& file : files) {
      const std::string& url = file.urls.at(0);
      paths.push_back(folder / file.name);
      std::filesystem::copy_file(url.substr(url.find("://") + 3), paths.back());
      if (file.digest.hex.empty() || base::digest_file(paths.back()) == file.digest) continue;
      throw base::Error(base::ErrorKind::integrity, "cannot fetch " + file.name + ": other bytes");
    }
    return paths;
  };
}

}  // namespace sabath::test

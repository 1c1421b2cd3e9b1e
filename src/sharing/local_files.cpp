#include "local_files.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/bytes.hpp>
#include <sabath/base/error.hpp>
#include <sabath/exchange/croissant.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <fstream>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;

struct EnoughRead {};

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

std::string packing_of_file(const fs::path& file) {
  constexpr std::size_t block = 512;
  std::ifstream stream(file, std::ios::binary);
  std::string begin(block, '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(block));
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  std::string kind = exchange::packing_of_bytes(begin);
  if (kind.empty() || kind == "tar" || kind == "zip") return kind;
  std::string unpacked;
  base::SilentObserver silent;
  try {
    const auto keep = [&](base::ByteView bytes) {
      unpacked += base::as_text(bytes);
      if (unpacked.size() >= block) throw EnoughRead{};
    };
    base::decompress_file(file, kind, keep, {}, silent);
  } catch (const EnoughRead&) {  // its first block is all that is wanted
  } catch (const base::Error&) {
    return kind;
  }
  return exchange::packing_of_bytes(unpacked) == "tar" ? "tar" : kind;
}

std::vector<fs::path> json_files(const fs::path& folder) {
  auto files = files_beneath(folder);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".json"; });
  return files;
}

}  // namespace sabath::sharing

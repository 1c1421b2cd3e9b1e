#include <sabath/base/disk_use.hpp>
#include <sabath/base/unique_fd.hpp>

#include <linux/fiemap.h>
#include <linux/fs.h>

#include <array>
#include <cstring>
#include <map>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t block_bytes = 512;  // the unit of st_blocks, whatever the file system's

struct FoundFile {
  fs::path path{};
  std::uint64_t names = 0;  ///< found until now
  std::uint64_t links = 0;  ///< of the file system
  std::uint64_t disk_bytes = 0;
};

}  // namespace

std::optional<std::uint64_t> first_shared_block(const fs::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return std::nullopt;
  alignas(fiemap) std::array<unsigned char, sizeof(fiemap) + sizeof(fiemap_extent)> memory{};
  auto* const request = new (memory.data()) fiemap;
  request->fm_start = 0;
  request->fm_flags = 0;
  request->fm_mapped_extents = 0;
  request->fm_reserved = 0;
  request->fm_length = FIEMAP_MAX_OFFSET;
  request->fm_extent_count = 1;
  if (::ioctl(fd.get(), FS_IOC_FIEMAP, memory.data()) != 0 || request->fm_mapped_extents != 1) {
    return std::nullopt;
  }
  fiemap_extent extent{};
  std::memcpy(&extent, memory.data() + sizeof(fiemap), sizeof extent);
  if ((extent.fe_flags & FIEMAP_EXTENT_SHARED) == 0) return std::nullopt;
  return extent.fe_physical;
}

DiskUse disk_use_of(const std::vector<fs::path>& directories) {
  DiskUse use;
  std::map<std::pair<dev_t, ino_t>, FoundFile> found;
  const auto add = [&](const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    const std::uint64_t disk_bytes = static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
    if (!S_ISREG(status.st_mode)) {
      use.disk_bytes += disk_bytes;
      use.freed_bytes += disk_bytes;
      return;
    }
    FoundFile& file = found[{status.st_dev, status.st_ino}];
    if (file.names++ == 0) file = {path, 1, status.st_nlink, disk_bytes};
  };
  for (const fs::path& directory : directories) {
    add(directory);
    std::error_code code;
    fs::recursive_directory_iterator at(
        directory, fs::directory_options::skip_permission_denied, code);
    for (; !code && at != fs::recursive_directory_iterator(); at.increment(code))
      add(at->path());
  }
  for (const auto& [inode, file] : found) {
    ++use.files;
    use.disk_bytes += file.disk_bytes;
    const bool is_shared = file.names < file.links ||
                           (file.disk_bytes > 0 && first_shared_block(file.path).has_value());
    if (!is_shared) use.freed_bytes += file.disk_bytes;
  }
  return use;
}

}  // namespace sabath::base

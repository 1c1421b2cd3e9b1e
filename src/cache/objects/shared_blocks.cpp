#include "shared_blocks.hpp"

#include <sabath/base/unique_fd.hpp>

#include <linux/fiemap.h>
#include <linux/fs.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/ioctl.h>

namespace sabath::cache {
namespace {

/// Where on the device the first bytes lie, of a file that shares its blocks.
std::optional<std::uint64_t> first_shared_block(const std::filesystem::path& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
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

}  // namespace

bool begin_in_same_blocks(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto at = first_shared_block(a);
  return at && at == first_shared_block(b);
}

}  // namespace sabath::cache

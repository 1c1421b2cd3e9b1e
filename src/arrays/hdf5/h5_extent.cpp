#include "h5_extent.hpp"

#include <string>
#include <string_view>

namespace sabath::arrays {
namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t longest_superblock = 64;

/// A little-endian number of `size` bytes; nothing where it is undefined (all ones) or too long.
std::optional<std::uint64_t> address(std::string_view superblock, std::size_t at, unsigned size) {
  if (size == 0 || size > sizeof(std::uint64_t) || at + size > superblock.size())
    return std::nullopt;
  std::uint64_t value = 0;
  bool is_defined = false;
  for (std::size_t i = size; i-- > 0;) {
    const auto byte = static_cast<unsigned char>(superblock[at + i]);
    is_defined = is_defined || byte != 0xFF;
    value = value << 8U | byte;
  }
  return is_defined ? std::optional(value) : std::nullopt;
}

/// End of the file according to the superblock: base, another address, end.
std::optional<std::uint64_t> end_of(std::string_view superblock, std::uint64_t begin) {
  if (superblock.size() < 16) return std::nullopt;
  const auto version = static_cast<unsigned char>(superblock[8]);
  if (version > 3) return std::nullopt;
  const auto size = static_cast<unsigned char>(superblock[version < 2 ? 13 : 9]);
  const std::size_t first = version == 0 ? 24 : version == 1 ? 28 : 12;
  const auto base = address(superblock, first, size);
  const auto end = address(superblock, first + std::size_t{2} * size, size);
  if (!base || !end || *end < *base) return std::nullopt;
  // A user block that was put before a file later is not in its addresses: the library goes by
  // where it found the signature, too.
  return begin + (*end - *base);
}

}  // namespace

std::optional<H5Extent> hdf5_extent(ByteSource& bytes) {
  for (std::uint64_t at = 0; at < bytes.size(); at = at == 0 ? 512 : 2 * at) {
    const std::string superblock = bytes.text(at, longest_superblock);
    if (superblock.starts_with(signature)) return H5Extent{at, end_of(superblock, at)};
  }
  return std::nullopt;
}

}  // namespace sabath::arrays

#include "array_formats.hpp"
#include "file_bytes.hpp"
#include "strided_file.hpp"

#include <sabath/base/error.hpp>

#include <bit>

namespace sabath::arrays {

std::unique_ptr<base::ArraySource> open_raw(const std::filesystem::path& path,
                                            const spec::RawLayout& layout,
                                            const base::ReadLimits& limits) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(std::make_unique<FileBytes>(path, limits));
  const std::uint64_t size = sources.front()->size();
  const std::uint64_t item = base::size_of(layout.type);
  StridedArray array;
  array.info = {"data", layout.type, layout.shape, false};
  if (layout.shape.empty()) array.info.shape = {size / item};
  std::uint64_t bytes = item;
  bool fits = true;
  for (const std::uint64_t extent : array.info.shape)
    fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes);
  if (!fits || bytes != size) {
    throw base::Error(base::ErrorKind::integrity,
                      path.string() + ": has " + std::to_string(size) +
                          " bytes, which is not what its declared type and shape take");
  }
  pack(array, item);
  array.swapped = layout.big_endian != (std::endian::native == std::endian::big);
  return open_strided(path.string(), {array}, std::move(sources));
}

}  // namespace sabath::arrays

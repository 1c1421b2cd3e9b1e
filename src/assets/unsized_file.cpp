#include "unsized_file.hpp"

#include <utility>

namespace sabath::assets {

void UnsizedFile::reserve(std::uint64_t size_bytes) {
  if (!object_ && size_bytes > large_bytes && small_.present_bytes() == 0) {
    auto object = stage_();
    // Another process may have left a part of it since it was looked for; who writes here has
    // asked for the whole.
    if (object->present_bytes() > 0) object->restart();
    for (const base::ByteSource& source : small_.sources())
      object->number_of(source);
    object_ = std::move(object);
  }
  file().reserve(size_bytes);
}

}  // namespace sabath::assets

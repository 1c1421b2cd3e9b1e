#pragma once

#include <sabath/cache/cache.hpp>

#include <filesystem>

namespace sabath::cache {

/// Lets the empty file `to` share the blocks of `from` (FICLONE); false where the file system
/// cannot.
bool share_blocks(int from, int to);

/// See Cache::materialise.
Placement place(const Object& object, const std::filesystem::path& destination, bool writable);

}  // namespace sabath::cache

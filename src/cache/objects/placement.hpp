#pragma once

#include <sabath/cache/content.hpp>

#include <filesystem>

namespace sabath::cache {

/// Makes the empty file `to` share the blocks of `from` (FICLONE). Returns false where the file
/// system cannot.
bool share_blocks(int from, int to);

/// As `share_blocks`, for an object; `to` is readable, too. Hashes the result where others can
/// exchange the object. Throws Error{integrity}.
bool share_object(int from, int to, const Object& object);

/// See Cache::place.
Placement place_object(const Object& object,
                       const std::filesystem::path& destination,
                       bool writable);

}  // namespace sabath::cache

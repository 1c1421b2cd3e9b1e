#pragma once

#include <sabath/cache/cache.hpp>

#include <filesystem>

namespace sabath::cache {

/// Lets the empty file `to` share the blocks of `from` (FICLONE); false where the file system
/// cannot.
bool share_blocks(int from, int to);

/// The same for an object. Where others can exchange the object, what `to` has then is hashed.
/// Throws Error{integrity}. `to` is open for reading, too.
bool share_object(int from, int to, const Object& object);

/// See Cache::materialise.
Placement place(const Object& object, const std::filesystem::path& destination, bool writable);

}  // namespace sabath::cache

#pragma once

#include <filesystem>

namespace sabath::cache {

/// Do the files begin in the same blocks on disk (FIEMAP)? False where the file system does not
/// tell, and for files without blocks of their own.
bool begin_in_same_blocks(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace sabath::cache

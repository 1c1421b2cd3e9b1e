#pragma once

#include <filesystem>

namespace sabath::base {

/// Makes durable all that was written to the file system of a folder: for many small files it costs
/// less than an fsync for each. Throws Error{storage}.
void sync_file_system(const std::filesystem::path& folder);

}  // namespace sabath::base

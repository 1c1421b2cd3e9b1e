#pragma once

#include "journal.hpp"

#include <filesystem>

namespace sabath::cache {

/// Only the ranges that the file still has, byte for byte, as far as their checksums tell: sorted
/// and apart from each other. Reads with a thread a core. A part that cannot be read is not there;
/// where none can, or the file cannot be opened, that says nothing: throws Error{storage}.
JournalContent only_intact(const std::filesystem::path& file, JournalContent content);

}  // namespace sabath::cache

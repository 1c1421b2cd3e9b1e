#pragma once

#include "layout.hpp"

#include <sabath/base/clock.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sabath::cache {

/// Moves a damaged entry to damaged/ for inspection, if it still has this inode. In a read-only
/// cache it stays.
void set_aside(const Layout& layout,
               const base::Clock& clock,
               const std::filesystem::path& path,
               const base::Digest& digest,
               std::uint64_t inode);

/// Returns all entries that were set aside under this digest, newest first.
std::vector<std::filesystem::path> set_aside_of(const Layout& layout, const base::Digest& digest);

}  // namespace sabath::cache

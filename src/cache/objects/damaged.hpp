#pragma once

#include "layout.hpp"

#include <sabath/base/clock.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sabath::cache {

/// Moves something damaged to damaged/, where it can be looked at, provided that it is still what
/// was inspected. Where it cannot be moved (a cache that may only be read) it stays.
void set_aside(const Layout& layout,
               const base::Clock& clock,
               const std::filesystem::path& path,
               const base::Digest& digest,
               std::uint64_t inode);

/// Everything that was set aside under this digest, the newest first.
std::vector<std::filesystem::path> set_aside_of(const Layout& layout, const base::Digest& digest);

}  // namespace sabath::cache

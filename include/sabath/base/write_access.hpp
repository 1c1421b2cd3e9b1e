#pragma once

#include <filesystem>

namespace sabath::base {

/// Whether anybody but the owner and root can write to what a descriptor names, by its mode or its
/// POSIX access control list; true where that is unknown. The user's private group (the same name,
/// nobody else in it) does not count as others.
bool can_others_write(int file) noexcept;
/// Whether others can replace entries of a directory. In a sticky directory (/tmp) they cannot.
bool can_others_exchange(int directory) noexcept;
/// The same of what a path leads to now.
bool can_others_exchange(const std::filesystem::path& directory) noexcept;

}  // namespace sabath::base

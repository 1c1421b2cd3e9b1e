#pragma once

#include <string>

namespace sabath::base {

/// Removes `name` in a directory, and all beneath it, without ever following a link. Read-only
/// directories of this user are made writable. True where nothing is left.
bool remove_tree_at(int directory, const std::string& name) noexcept;

/// Sets the mode of what a descriptor (O_PATH) has open, a directory or a regular file of this
/// user. 0 or an errno.
int set_mode_of(int fd, unsigned mode) noexcept;
/// Sets the mode of a directory or a regular file of this user, never through a link. 0 or an
/// errno.
int set_mode_at(int directory, const char* name, unsigned mode) noexcept;

/// Renames without replacing; works without renameat2(2), too. Returns EEXIST if `into` exists,
/// else 0 or an errno.
int rename_no_replace_at(int folder, const char* from, int to, const char* into) noexcept;

}  // namespace sabath::base

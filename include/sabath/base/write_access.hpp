#pragma once

struct stat;

namespace sabath::base {

/// Whether anybody but the owner and root can write there. The user's private group (the same name,
/// no other member) does not count as others.
bool can_others_write(const struct stat& status);
/// Whether others can replace entries of the directory. In a sticky directory (/tmp) they cannot.
bool can_others_exchange(const struct stat& directory);

}  // namespace sabath::base

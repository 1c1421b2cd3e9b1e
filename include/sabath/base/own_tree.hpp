#pragma once

#include <filesystem>

struct stat;

namespace sabath::base {

class Beneath;

/// Can anybody but the owner and root write there? A group whose name is this user's, and that has
/// no other member, is not others.
bool can_others_write(const struct stat& status);
/// Can they exchange what another has put there? In a sticky directory (/tmp) they cannot.
bool can_others_exchange(const struct stat& directory);

/// Removes a directory of this user with all that is in it. Never through a link that is not
/// trusted (Links::trusted), and never a directory that others can write to: they could have moved
/// it there from anywhere, with all that is in it. False where something is left.
bool remove_own_tree(const Beneath& beneath, const std::filesystem::path& path) noexcept;
/// The same for any absolute path.
bool remove_own_tree(const std::filesystem::path& path) noexcept;

}  // namespace sabath::base

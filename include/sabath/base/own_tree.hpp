#pragma once

#include <sabath/base/beneath.hpp>
#include <sabath/base/directory.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::base {

// Removal of whole directories in a place that others may write to. There, another user can move a
// directory of this user's from anywhere, and rename what is in it. So the owner and the name of a
// directory do not show that sabath made it. A mark does: nobody else can make a file of this
// user's in a directory that only this user can write to.

/// The mark: a file in a directory that sabath makes and will remove as a whole. It names inode and
/// time of birth of its directory, so that a mark from an archive or a copy is none.
inline constexpr const char* made_mark = ".sabath-made";
/// The manifest of a tree in a cache counts as a mark, too.
inline constexpr const char* tree_mark = ".sabath-tree.json";

/// Makes a directory with a mark and with this mode, whatever the umask. Returns 0 or an errno.
int make_marked(const Directory& parent, const std::string& name, unsigned mode) noexcept;
/// Marks a directory that is known to be sabath's. Returns 0 or an errno.
int mark(const Directory& folder) noexcept;

/// Says why a directory may not be removed, or emptied, as a whole. Returns nothing where it may:
/// - It is this user's, and others cannot write to it.
/// - It has a mark, or lies in a directory with one and nobody else can exchange anything between;
///   or nobody else can exchange it or a directory above it.
std::optional<std::string> why_kept(const Directory& parent, const Directory& folder) noexcept;
/// The same for what `path` names now. Returns nothing for a file, and for an empty directory of
/// this user.
std::optional<std::string> why_kept(const Beneath& beneath,
                                    const std::filesystem::path& path) noexcept;

/// Removes all in a directory, its marks last. Returns false where something is left.
bool remove_all_in(const Directory& folder) noexcept;
/// Removes a directory with all that is in it, unless `why_kept` names a reason; then it goes only
/// if it is empty. Never follows an untrusted link (Links::trusted). Returns false where something
/// is left.
bool remove_own_tree(const Beneath& beneath, const std::filesystem::path& path) noexcept;
/// The same for any absolute path.
bool remove_own_tree(const std::filesystem::path& path) noexcept;

}  // namespace sabath::base

#pragma once

namespace sabath::base {

/// How a path is looked up. `automatic` uses openat2(2), or single components if the kernel lacks
/// it.
enum class Lookup { automatic, by_component };

/// Which symbolic links are followed, so that no attacker chooses where a path leads. A link is
/// trusted in two cases:
/// - Nobody but this user and root can write to the directory that holds the link. In a sticky
///   directory (/tmp) the link itself must belong to one of them.
/// - The directory belongs to another user alone, and the link leads to a directory of that user.
/// So a link from ~/.cache to /scratch works. A link in a directory of a group is refused.
enum class Links {
  trusted,  ///< followed as above
  own,      ///< as `trusted`; links of this user or root are followed in a group's directory, too
  any       ///< followed as the kernel does: the user has named this path
};

}  // namespace sabath::base

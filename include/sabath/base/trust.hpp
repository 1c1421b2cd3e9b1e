#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::base {

/// Users and groups that may own or write what is executed, besides the user and root.
struct Trust {
  std::vector<unsigned> owners{};  ///< ids of users
  /// Ids of groups: their members are trusted, and so is what these may write.
  std::vector<unsigned> groups{};

  bool operator==(const Trust&) const = default;
};

bool is_trusted_owner(unsigned user, const Trust& trust);

/// Returns why programs at `path` must not be executed, or nothing if they may be. The path and all
/// parent folders must belong to trusted users. Nobody else may be able to write there. A sticky
/// folder such as /tmp is accepted as a parent.
std::optional<std::string> why_untrusted(const std::filesystem::path& path,
                                         const Trust& trust = {});

/// The id of a user or a group of this machine, by name or by the number itself.
std::optional<unsigned> user_id(const std::string& name);
std::optional<unsigned> group_id(const std::string& name);

}  // namespace sabath::base

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::base {

/// Whom a user lets write what is executed, beside that user and root.
struct Trust {
  std::vector<unsigned> owners{};  ///< ids of users
  /// Ids of groups: their members are trusted, and so is what these may write.
  std::vector<unsigned> groups{};

  bool operator==(const Trust&) const = default;
};

bool is_trusted_owner(unsigned user, const Trust& trust);

/// Why a path may not be executed from: nothing when it and every parent folder belong to somebody
/// who is trusted and nobody else can write there (a sticky folder such as /tmp is accepted as a
/// parent).
std::optional<std::string> why_untrusted(const std::filesystem::path& path, const Trust& trust);

/// The id of a user or a group of this machine, by name or by the number itself.
std::optional<unsigned> user_id(const std::string& name);
std::optional<unsigned> group_id(const std::string& name);

}  // namespace sabath::base

#pragma once

#include <sabath/catalog/catalog.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::analysis {

/// "MYFACTOR" of the key "session.MYFACTOR"; nothing of other keys.
std::optional<std::string> session_variable_of(std::string_view key);

/// What runs are grouped by with `--by session.MYFACTOR`.
struct SessionLevels {
  std::vector<std::string> of_run{};       ///< "not set", "set (digest 0123...)", "unknown"
  std::vector<std::string> why_unknown{};  ///< empty: it is known
};

/// Digests are keyed by the home. Where the values of these runs have several keys, or none, nobody
/// knows which are equal; so it is with a run that has no such facet. Nothing: no run has it set.
std::optional<SessionLevels> session_levels(const std::vector<catalog::RunRow>& runs,
                                            const std::string& variable);

}  // namespace sabath::analysis

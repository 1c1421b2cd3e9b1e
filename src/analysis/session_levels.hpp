#pragma once

#include <sabath/catalog/catalog.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::analysis {

/// Returns "MYFACTOR" for the key "session.MYFACTOR"; nothing for other keys.
std::optional<std::string> session_variable_of(std::string_view key);

/// Levels of runs for `--by session.MYFACTOR`.
struct SessionLevels {
  std::vector<std::string> of_run{};       ///< "not set", "set (digest 0123...)", "unknown"
  std::vector<std::string> why_unknown{};  ///< empty: it is known
};

/// Digests are keyed by the home. Equality is unknown where values of these runs have several keys
/// or none, and for a run without this facet. Returns nothing where no run has the variable set.
std::optional<SessionLevels> session_levels(const std::vector<catalog::RunRow>& runs,
                                            const std::string& variable);

}  // namespace sabath::analysis

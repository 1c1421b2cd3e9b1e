#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/catalog/selection_terms.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

/// One end of a selection: "@last~3", "@running", or an id or the beginning of one.
struct RunReference {
  std::optional<std::uint32_t> from_last{};  ///< 0 is the newest
  bool is_running = false;                   ///< of those that have not ended the newest
  std::string prefix{};
};

/// A condition on runs as SQL with bound texts.
struct Condition {
  std::string sql{};
  std::vector<std::string> texts{};
};

/// A selection as it was typed: one reference, a range of two, or terms that must all hold.
struct Selection {
  std::vector<RunReference> references{};  ///< one, or two for "A..B"
  std::optional<Condition> terms{};
  std::vector<SelectionTerm> names{};  ///< the same terms as they were typed
};

/// Reads "@last~1", "A..B", "recipe=x,tag=ci,since=7d" or an id. Throws Error{usage}. Syntax:
/// docs/commands/selections.md.
Selection parse_selection(std::string_view text, base::WallTime now);

}  // namespace sabath::catalog

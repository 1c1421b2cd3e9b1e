#pragma once

#include <sabath/base/clock.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

/// One `KEY=VALUE` of a selection.
struct SelectionTerm {
  std::string key{};
  std::string value{};
};

/// The terms of a selection; none where it names runs by id, by @last or as a range. Throws
/// Error{usage} as Catalog::select does.
std::vector<SelectionTerm> terms_of(std::string_view selection, base::WallTime now);

/// The keys of terms that are not parameters.
std::vector<std::string> selection_keys();

}  // namespace sabath::catalog

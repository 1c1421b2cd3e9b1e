#pragma once

#include <sabath/base/process/process.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What turned one set of variables into another, in a form that can be done again over a third.
struct EnvironmentChanges {
  /// As a layer's own variables: $NAME stands for what was there, $$ for a dollar.
  std::map<std::string, std::string> sets{};
  std::vector<std::string> unsets{};
};

/// A list that grew at its ends becomes "new:$NAME:more", also where doubles were dropped from it;
/// everything else is set to what it is after. What shells and module systems keep for their own
/// use is left out.
EnvironmentChanges changes_between(const base::Environment& before, const base::Environment& after);

/// A value in which every dollar is one: "$" becomes "$$".
std::string without_references(std::string_view text);

}  // namespace sabath::env

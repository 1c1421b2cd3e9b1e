#pragma once

#include <sabath/base/process/process.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// Changes between two sets of variables, which can be applied to a third.
struct EnvironmentChanges {
  /// Values in the form of a layer's variables: $NAME is the earlier value, $$ a dollar.
  std::map<std::string, std::string> sets{};
  std::vector<std::string> unsets{};
};

/// Returns the changes. A list that grew at its ends becomes "new:$NAME:more", also where
/// duplicates were dropped; other variables get their final value. Leaves out variables that shells
/// and module systems keep for themselves.
EnvironmentChanges changes_between(const base::Environment& before, const base::Environment& after);

/// Escapes dollars: "$" becomes "$$".
std::string without_references(std::string_view text);

/// Takes the records of one section from the front of `text`. Records end with a NUL, sections with
/// an empty record. Returns nothing for a truncated section.
std::optional<std::vector<std::string>> take_section(std::string_view& text);
/// Returns a bash command without the user's start-up files. The first argument of the script is
/// the path of `env` on the PATH of `variables`. Throws Error{environment}; `place` begins its
/// message.
std::vector<std::string> bash_with_env(const std::string& script,
                                       const base::Environment& variables,
                                       const std::string& place);
/// Returns the variables of a section that `env -0` printed.
base::Environment variables_of(const std::vector<std::string>& records);

}  // namespace sabath::env

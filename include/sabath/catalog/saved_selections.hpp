#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::catalog {

/// Selections that the user gave a name: "@NAME" stands for the text. Each is a file of one line in
/// HOME/selections. `home`: the folder of catalog.db.

/// By name. Other files in the folder are left out.
std::map<std::string, std::string> saved_selections(const std::filesystem::path& home);

/// Nothing: there is none of that name.
std::optional<std::string> saved_selection(const std::filesystem::path& home,
                                           std::string_view name);

/// Replaces one of that name and returns its text. Throws Error{usage} for a name that is none or
/// has a meaning ("last", "best"); Error{storage}.
std::optional<std::string> save_selection(const std::filesystem::path& home,
                                          const std::string& name,
                                          const std::string& text);

/// Throws Error{not_found} where there is none, with the nearest name; Error{storage}.
void forget_selection(const std::filesystem::path& home, const std::string& name);

/// Keeps the id of side A of a comparison: "@previous".
void keep_previous(const std::filesystem::path& home, const std::string& run_id);
/// Empty: there was no comparison in this home.
std::string previous_run(const std::filesystem::path& home);

}  // namespace sabath::catalog

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::drafts {

/// The recipe of a command that is run without one.
struct CommandRecipe {
  std::string name{};      ///< of its script, or its program
  std::string document{};  ///< one stage, with the words and the scripts that they name as fixed
  /// Sources beneath the working folder that the run keeps, relative to it.
  std::vector<std::filesystem::path> sources{};
};

/// Makes the recipe of a command that starts in `folder`. Reads the scripts that its words name.
/// Throws Error{storage} where one cannot be read.
CommandRecipe command_recipe(const std::vector<std::string>& words,
                             const std::filesystem::path& folder);

/// Writes the document, and copies of the sources as its code, into `place`.
/// Throws Error{storage}.
void write_command_recipe(const CommandRecipe& recipe,
                          const std::filesystem::path& folder,
                          const std::filesystem::path& place);

}  // namespace sabath::drafts

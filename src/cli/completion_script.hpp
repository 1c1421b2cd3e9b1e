#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): it is another library's
class App;
}

namespace sabath::cli {

/// A completion script for "bash", "zsh" or "fish", made from the commands and options of `app`.
/// Recipes, assets and runs are asked of sabath itself as they are needed.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace sabath::cli

#pragma once

#include "option_parser.hpp"

#include <string>

namespace sabath::cli {

/// A completion script for "bash", "zsh" or "fish", made from the commands and options of
/// `program`. Recipes, assets and runs are asked of sabath itself as they are needed.
std::string completion_script(const CommandOutline& program, const std::string& shell);

}  // namespace sabath::cli

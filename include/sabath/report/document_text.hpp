#pragma once

#include <sabath/spec/asset.hpp>
#include <sabath/spec/recipe.hpp>

#include <string>
#include <string_view>

namespace sabath::report {

/// "label         text", printable, with a newline; empty where the text is.
std::string label_line(std::string_view label, const std::string& text);
/// What `show` says of a recipe: its parts as tables.
std::string recipe_text(const spec::Recipe& recipe);
/// What `show` says of an asset: where it comes from, its files and its scripts.
std::string asset_text(const spec::Asset& asset);

}  // namespace sabath::report

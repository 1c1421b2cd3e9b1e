#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/recipe.hpp>

namespace sabath::spec {

/// One entry of a recipe's "stages", as far as it can be read without the others. The recipe has
/// its parameters and environment already.
Stage read_stage(const Recipe& recipe, base::JsonReader reader);
/// Notes everything about "stages" that refers to other parts of the recipe: stages twice, needs
/// that nobody is, circles, unknown placeholders. `reader` is at the array `recipe.stages` was read
/// from.
void check_stages(const Recipe& recipe, base::JsonReader reader);

}  // namespace sabath::spec

#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/recipe.hpp>

namespace sabath::spec {

/// On what terms a stage runs: its "when", "retry", "variant" and "variables". The recipe has its
/// parameters and environment already.
void read_stage_terms(const Recipe& recipe, Stage& stage, base::JsonReader& reader);

}  // namespace sabath::spec

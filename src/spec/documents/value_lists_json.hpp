#pragma once

#include "recipes/parameter_json.hpp"

#include <sabath/spec/recipe.hpp>

#include <string>
#include <vector>

// Values that parts of a recipe give its parameters.

namespace sabath::spec {

/// Notes a name that no parameter has.
const Parameter* known_parameter(const Recipe& recipe,
                                 const std::string& name,
                                 const base::JsonReader& reader);
/// A list of different values.
std::vector<ParameterValue> read_values(const Parameter& parameter, base::JsonReader& list);
/// The same, where one value needs no list.
std::vector<ParameterValue> read_value_or_values(const Parameter& parameter,
                                                 base::JsonReader& entry);
/// "when": the value or values of each parameter for which something holds.
ValueLists read_when(const Recipe& recipe, base::JsonReader reader);

}  // namespace sabath::spec

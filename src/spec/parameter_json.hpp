#pragma once

#include <sabath/base/json_reader.hpp>
#include <sabath/spec/parameter.hpp>

#include <string>

namespace sabath::spec {

/// One entry of a recipe's "parameters".
Parameter read_parameter(const std::string& name, base::JsonReader reader);
/// A value that a recipe gives `parameter`; notes a wrong type and what is not allowed.
ParameterValue read_value_of(const Parameter& parameter, base::JsonReader reader);
/// A value as plans and records hold it: its JSON type is its type.
ParameterValue read_parameter_value(base::JsonReader reader);

}  // namespace sabath::spec

#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/parameter.hpp>

#include <string>
#include <string_view>

namespace sabath::spec {

/// "int", "float", ... as documents spell it.
std::string_view to_string(ParameterType type);
/// One entry of a recipe's "parameters".
Parameter read_parameter(const std::string& name, base::JsonReader reader);
/// The same as a document has it.
nlohmann::ordered_json to_json(const Parameter& parameter);
/// A value that a recipe gives `parameter`; notes a wrong type and what is not allowed.
ParameterValue read_value_of(const Parameter& parameter, base::JsonReader reader);
/// A value as plans and records hold it: its JSON type is its type.
ParameterValue read_parameter_value(base::JsonReader reader);

}  // namespace sabath::spec

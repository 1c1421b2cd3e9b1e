#pragma once

#include <sabath/spec/parameter.hpp>

#include <optional>
#include <string>

namespace sabath::spec {

/// Why `value`, which has the parameter's type, is not allowed: "0 is below its minimum 1".
std::optional<std::string> why_not_allowed(const Parameter& parameter, const ParameterValue& value);
/// What is allowed, in words: "an integer from 1 to 100", "one of ordered, fast".
std::string allowed_values(const Parameter& parameter);

}  // namespace sabath::spec

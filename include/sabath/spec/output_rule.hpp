#pragma once

#include <sabath/spec/recipe.hpp>

#include <map>
#include <string>

namespace sabath::spec {

/// The rule for an output: under "stage/path", else under its declared path, else an empty one.
OutputRule rule_for(const std::map<std::string, OutputRule>& rules,
                    const std::string& stage,
                    const std::string& path);

}  // namespace sabath::spec

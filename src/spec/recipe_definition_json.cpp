#include "environment_spec_json.hpp"

#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

using nlohmann::json;

const char* type_word(ParameterType type) {
  switch (type) {
    case ParameterType::integer:
      return "int";
    case ParameterType::real:
      return "float";
    case ParameterType::boolean:
      return "bool";
    case ParameterType::text:
      return "string";
    case ParameterType::enumeration:
      return "enum";
  }
  return "";
}

/// What a stage does; not what it may use of a machine.
json definition_of(const Stage& stage) {
  return {{"name", stage.name},
          {"needs", stage.needs},
          {"cache", stage.cache},
          {"run", stage.run},
          {"shell", stage.shell},
          {"outputs", stage.outputs},
          {"copy_code", stage.copy_code}};
}

}  // namespace

base::Digest Recipe::definition_digest() const {
  const auto is_fixed = [&](const std::string& part) {
    return std::find(fixed.begin(), fixed.end(), part) != fixed.end();
  };
  json definition = {{"name", name}, {"model", model}, {"datasets", datasets}};
  definition["fixed"] = std::set<std::string>(fixed.begin(), fixed.end());
  for (const Parameter& parameter : parameters) {
    json& entry = definition["parameters"][parameter.name];
    entry["type"] = type_word(parameter.type);
    if (is_fixed(parameter.name)) entry["value"] = to_json(parameter.default_value);
  }
  if (is_fixed("environment")) definition["environment"] = to_json(environment);
  definition["stages"] = json::array();
  for (const Stage& stage : stages)
    definition["stages"].push_back(definition_of(stage));
  return base::sha256_of(base::canonical_json(definition));
}

}  // namespace sabath::spec

#include "environment_spec_json.hpp"
#include "parameter_json.hpp"

#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

using nlohmann::json;

/// What a stage does; not what it may use of a machine, nor how often it is tried. Keys that came
/// later are there where they are set: the definitions of older recipes are what they were.
json definition_of(const Stage& stage) {
  json definition = {{"name", stage.name},
                     {"needs", stage.needs},
                     {"cache", stage.cache},
                     {"run", stage.run},
                     {"shell", stage.shell},
                     {"outputs", stage.outputs},
                     {"copy_code", stage.copy_code}};
  if (!stage.task.empty()) definition["task"] = stage.task;
  for (const auto& [name, values] : stage.when) {
    for (const ParameterValue& value : values)
      definition["when"][name].push_back(to_json(value));
  }
  if (!stage.variant.empty()) definition["variant"] = stage.variant;
  if (!stage.variables.empty()) definition["variables"] = stage.variables;
  return definition;
}

}  // namespace

base::Digest Recipe::definition_digest(const ParameterValues& values) const {
  const auto is_fixed = [&](const std::string& part) {
    return std::find(fixed.begin(), fixed.end(), part) != fixed.end();
  };
  json definition = {{"name", name}, {"model", model}, {"datasets", datasets_for(values)}};
  definition["fixed"] = std::set<std::string>(fixed.begin(), fixed.end());
  for (const Parameter& parameter : parameters) {
    json& entry = definition["parameters"][parameter.name];
    entry["type"] = to_string(parameter.type);
    if (is_fixed(parameter.name)) entry["value"] = to_json(parameter.default_value);
  }
  if (parameter_file) {
    definition["parameter_file"] = {{"file", parameter_file->file},
                                    {"format", parameter_file->format},
                                    {"keys", parameter_file->keys}};
  }
  if (is_fixed("environment")) definition["environment"] = to_json(environment);
  definition["stages"] = json::array();
  for (const Stage& stage : stages)
    definition["stages"].push_back(definition_of(stage));
  return base::sha256_of(base::canonical_json(definition));
}

}  // namespace sabath::spec

#include "environment_spec_json.hpp"
#include "parameter_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>

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

base::Digest digest_of(const Recipe& recipe, const json& datasets) {
  const auto is_fixed = [&](const std::string& part) {
    return std::ranges::find(recipe.fixed, part) != recipe.fixed.end();
  };
  json definition = {{"name", recipe.name}, {"model", recipe.model}, {"datasets", datasets}};
  definition["fixed"] = std::set<std::string>(recipe.fixed.begin(), recipe.fixed.end());
  for (const Parameter& parameter : recipe.parameters) {
    json& entry = definition["parameters"][parameter.name];
    entry["type"] = to_string(parameter.type);
    if (is_fixed(parameter.name)) entry["value"] = to_json(parameter.default_value);
  }
  if (const auto& file = recipe.parameter_file) {
    definition["parameter_file"] = {
        {"file", file->file}, {"format", file->format}, {"keys", file->keys}};
  }
  if (is_fixed("environment")) definition["environment"] = to_json(recipe.environment);
  definition["stages"] = json::array();
  for (const Stage& stage : recipe.stages)
    definition["stages"].push_back(definition_of(stage));
  return base::sha256_of(base::canonical_json(definition));
}

}  // namespace

base::Digest Recipe::definition_digest(const ParameterValues& values) const {
  return digest_of(*this, datasets_for(values));
}

base::Digest Recipe::definition_digest() const {
  json roles = json::object();
  for (const auto& [role, choices] : datasets) {
    if (choices.size() == 1 && choices.front().when.empty()) {
      roles[role] = choices.front().asset;
      continue;
    }
    for (const auto& [asset, when] : choices) {
      json choice = {{"asset", asset}};
      for (const auto& [parameter, list] : when) {
        for (const ParameterValue& value : list)
          choice["when"][parameter].push_back(to_json(value));
      }
      roles[role].push_back(std::move(choice));
    }
  }
  return digest_of(*this, roles);
}

base::Digest document_definition(const RunRecord& record) {
  try {
    if (!record.recipe_text.empty())
      return parse_recipe(record.recipe_text, record.run_id).definition_digest();
  } catch (const base::Error&) {
    // Of another version, perhaps.
  }
  return record.recipe_definition;
}

}  // namespace sabath::spec

#pragma once

#include <sabath/spec/recipe.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace sabath::test {

/// A small recipe that is right; tests make it wrong.
inline nlohmann::ordered_json small_recipe() {
  return nlohmann::ordered_json::parse(R"({
    "schema": 1,
    "name": "bubble",
    "datasets": {"train": "thermals"},
    "environment": {"layers": [{"kind": "source", "name": "code", "path": "{recipe}/code", "build": "cmake"}]},
    "parameters": {
      "epochs": {"type": "int", "default": 5, "min": 1, "max": 10},
      "mode": {"type": "enum", "values": ["ordered", "fast"], "default": "ordered"}
    },
    "stages": [
      {"name": "simulate", "run": ["{env}/bin/simulate", "{output}/x.h5"], "outputs": ["x.h5"]},
      {"name": "train", "needs": ["simulate"], "run": ["{env.code}/bin/train", "{stage.simulate}/x.h5", "{param.epochs}"],
       "outputs": ["weights.h5"]}
    ],
    "metrics": {"loss": {"unit": "1"}}
  })");
}

inline spec::Recipe parsed(const nlohmann::ordered_json& document) {
  return spec::parse_recipe(document.dump(), "recipes/x.json");
}

}  // namespace sabath::test

#include "merge_patch_json.hpp"

#include <nlohmann/json.hpp>

namespace sabath::exchange {

using nlohmann::json;

json merge_patch_of(const json& from, const json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  json patch = json::object();
  for (const auto& [key, value] : from.items())
    if (!to.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : to.items()) {
    if (!from.contains(key)) {
      patch[key] = value;
    } else if (from[key] != value) {
      patch[key] = merge_patch_of(from[key], value);
    }
  }
  return patch;
}

}  // namespace sabath::exchange

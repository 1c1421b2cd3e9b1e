#include "redact.hpp"

#include <sabath/base/redact.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sabath::app {
namespace {

/// Judged before the run was planned; changed, the run could not be done again. "key" and the like
/// hold digests.
constexpr std::array<std::string_view, 5> judged{
    "recipe_text", "argv", "argv_template", "parameters", "reproduce"};

void redact_value(nlohmann::ordered_json& value, std::string_view name) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const bool is_named = base::names_a_secret(name) && base::can_be_secret(text);
    value = is_named ? std::string(base::redacted_mark) : base::redact(text);
  } else if (value.is_array()) {
    for (auto& item : value)
      redact_value(item, name);
  } else if (value.is_object()) {
    for (auto& [key, item] : value.items()) {
      if (std::find(judged.begin(), judged.end(), key) == judged.end()) redact_value(item, key);
    }
  }
}

}  // namespace

nlohmann::ordered_json redacted(nlohmann::ordered_json document) {
  redact_value(document, {});
  return document;
}

}  // namespace sabath::app

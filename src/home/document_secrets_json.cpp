#include <sabath/base/text/redact.hpp>
#include <sabath/home/document_secrets.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sabath::home {
namespace {

using nlohmann::ordered_json;

/// A SHA-256 in hexadecimal, whatever its name says.
bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void redact_value(ordered_json& value, std::string_view name) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (is_digest(text)) return;
    const bool is_named = base::names_a_secret(name) && base::can_be_secret(text);
    value = is_named ? std::string(base::redacted_mark) : base::redact(text);
  } else if (value.is_array()) {
    for (auto& item : value)
      redact_value(item, name);
  } else if (value.is_object()) {
    for (auto& [key, item] : value.items())
      redact_value(item, key);
  }
}

/// What `refuse_secrets` has judged before the run was planned: changed, the run could not be done
/// again, or compared.
bool is_judged(std::string_view key) {
  constexpr std::array<std::string_view, 4> judged{
      "recipe_text", "parameters", "reproduce", "tags"};
  return std::ranges::find(judged, key) != judged.end();
}

void redact_stage(ordered_json& stage) {
  for (auto& [key, item] : stage.items()) {
    if (key != "argv") redact_value(item, key);
  }
}

}  // namespace

ordered_json redacted(ordered_json document) {
  for (auto& [key, item] : document.items()) {
    if (is_judged(key)) continue;
    if (key == "stages") {
      for (auto& stage : item)
        redact_stage(stage);
    } else if (key == "facets") {
      for (auto& facet : item) {
        if (facet.at("name") != "parameters") redact_value(facet.at("items"), {});
      }
    } else {
      redact_value(item, key);
    }
  }
  return document;
}

}  // namespace sabath::home

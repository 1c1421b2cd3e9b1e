#include "terms_json.hpp"

#include <algorithm>
#include <array>

namespace sabath::exchange {
namespace {

using nlohmann::json;
using std::string_view;

// "wd" and the like stay as they are: only these have a meaning here.
constexpr auto prefixes = std::to_array<string_view>({"sc:",
                                                      "schema:",
                                                      "cr:",
                                                      "ml:",
                                                      "dct:",
                                                      "https://schema.org/",
                                                      "http://schema.org/",
                                                      "http://mlcommons.org/croissant/",
                                                      "https://mlcommons.org/croissant/",
                                                      "http://mlcommons.org/schema/",
                                                      "http://purl.org/dc/terms/"});

string_view without_prefix(string_view term) {
  for (const string_view prefix : prefixes)
    if (term.starts_with(prefix) && term.size() > prefix.size()) return term.substr(prefix.size());
  return term;
}

const json& nothing() {
  static const json none;
  return none;
}

}  // namespace

Terms::Terms(const json& root) {
  if (!root.is_object() || !root.contains("@context")) return;
  for (const json* context : items_of(root["@context"]))
    add_context(*context);
}

void Terms::add_context(const json& context) {
  if (context.is_string()) foreign_.push_back(context.get<std::string>());
  if (!context.is_object()) return;
  for (const auto& [term, meaning] : context.items()) {
    std::string of;
    if (meaning.is_string()) of = meaning.get<std::string>();
    if (meaning.is_object() && meaning.contains("@id") && meaning["@id"].is_string())
      of = meaning["@id"].get<std::string>();
    const std::string name(without_prefix(of));
    if (name != of && name != term && !term.starts_with('@')) aliases_.emplace(term, name);
  }
}

std::string Terms::short_name(string_view term) const {
  const auto alias = aliases_.find(term);
  return alias != aliases_.end() ? alias->second : std::string(without_prefix(term));
}

std::string Terms::key_of(const json& node, string_view name) const {
  if (!node.is_object()) return {};
  if (node.contains(name) && short_name(name) == name) return std::string(name);
  for (const auto& [key, value] : node.items())
    if (short_name(key) == name) return key;
  return {};
}

const json& Terms::member(const json& node, string_view name) const {
  const std::string key = key_of(node, name);
  return key.empty() ? nothing() : node[key];
}

bool Terms::is_a(const json& node, string_view type) const {
  if (!node.is_object() || !node.contains("@type")) return false;
  return std::ranges::any_of(texts_in(node["@type"]),
                             [&](const std::string& one) { return short_name(one) == type; });
}

std::string text_in(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  if (value.is_array()) return value.empty() ? std::string{} : text_in(value.front());
  if (!value.is_object()) return {};
  for (const char* key : {"@id", "@value", "url", "name"})
    if (value.contains(key) && value[key].is_string()) return value[key].get<std::string>();
  return {};
}

std::vector<std::string> texts_in(const json& value) {
  std::vector<std::string> texts;
  for (const json* item : items_of(value)) {
    if (std::string text = text_in(*item); !text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<const json*> items_of(const json& value) {
  std::vector<const json*> items;
  if (value.is_array()) {
    for (const json& item : value)
      items.push_back(&item);
  } else if (!value.is_null()) {
    items.push_back(&value);
  }
  return items;
}

}  // namespace sabath::exchange

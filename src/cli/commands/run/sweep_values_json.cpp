#include "sweep_values.hpp"

#include <nlohmann/json.hpp>

namespace sabath::cli {
namespace {

/// A scalar as the text of --set, or nothing for an object or null.
std::optional<std::string> word_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

/// The same, and of an array the items joined by commas: a value of a list.
std::optional<std::string> value_of(const nlohmann::json& value) {
  if (!value.is_array()) return word_of(value);
  std::string joined;
  for (const nlohmann::json& item : value) {
    const auto word = word_of(item);
    if (!word) return std::nullopt;
    joined += (&item == &value.front() ? "" : ",") + *word;
  }
  return joined;
}

}  // namespace

std::optional<std::vector<std::string>> sweep_array(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  const auto array = nlohmann::json::parse(text, nullptr, false);
  if (!array.is_array() || array.empty()) return std::nullopt;
  std::vector<std::string> values;
  for (const nlohmann::json& item : array) {
    auto value = value_of(item);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

}  // namespace sabath::cli

#include "value_lists_json.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>

namespace sabath::spec {

using base::JsonReader;

namespace {

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "its parameters are " : ", ") + name;
  return text.empty() ? "the recipe has no parameter" : text;
}

}  // namespace

const Parameter* known_parameter(const Recipe& recipe,
                                 const std::string& name,
                                 const JsonReader& reader) {
  const Parameter* parameter = recipe.parameter(name);
  if (parameter != nullptr) return parameter;
  std::vector<std::string> names;
  for (const Parameter& each : recipe.parameters)
    names.push_back(each.name);
  reader.problem("no parameter '" + name + "'", base::did_you_mean(name, names, list_text(names)));
  return nullptr;
}

std::vector<ParameterValue> read_values(const Parameter& parameter, JsonReader& list) {
  std::vector<ParameterValue> values;
  for (const JsonReader& item : list.items()) {
    const ParameterValue value = read_value_of(parameter, item);
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      item.problem("'" + to_string(value) + "' stands twice");
    }
    values.push_back(value);
  }
  if (list.is_array() && values.empty()) list.problem("must not be empty");
  return values;
}

std::vector<ParameterValue> read_value_or_values(const Parameter& parameter, JsonReader& entry) {
  // Of a list parameter, [1, 2] is one value and [[1, 2], [3]] are two.
  const bool is_list = parameter.type == ParameterType::list;
  const auto items = entry.is_array() ? entry.items() : std::vector<base::JsonReader>{};
  const bool has_values = is_list ? !items.empty() && items.front().is_array() : entry.is_array();
  if (has_values) return read_values(parameter, entry);
  return {read_value_of(parameter, entry)};
}

ValueLists read_when(const Recipe& recipe, JsonReader reader) {
  ValueLists lists;
  for (auto& [name, entry] : reader.members()) {
    const Parameter* parameter = known_parameter(recipe, name, entry);
    if (parameter != nullptr) lists[name] = read_value_or_values(*parameter, entry);
  }
  if (reader.is_object() && reader.members().empty())
    reader.problem("names no parameter", "without \"when\" it holds always");
  return lists;
}

}  // namespace sabath::spec

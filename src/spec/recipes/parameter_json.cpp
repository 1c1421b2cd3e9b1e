#include "parameter_json.hpp"

#include "documents/checked_read.hpp"

#include <sabath/base/text/text_table.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace sabath::spec {
namespace {

/// In the order of ParameterType.
const std::vector<std::string> type_words{"int", "float", "bool", "string", "enum", "list"};

/// The words of the first `count` types are known.
std::optional<ParameterType> read_type(base::JsonReader reader, std::ptrdiff_t count) {
  const std::string word = reader.one_of({type_words.begin(), type_words.begin() + count});
  if (!reader.is_string() || reader.string() != word) return std::nullopt;
  return static_cast<ParameterType>(std::ranges::find(type_words, word) - type_words.begin());
}

bool is_numeric(ParameterType type) {
  return type == ParameterType::integer || type == ParameterType::real;
}

std::optional<double> read_bound(const Parameter& parameter, base::JsonReader reader) {
  if (!reader.exists()) return std::nullopt;
  const bool is_list = parameter.type == ParameterType::list;
  if (!is_numeric(is_list ? parameter.items : parameter.type)) {
    reader.problem("only parameters of type int or float, and lists of them, have a range");
    return std::nullopt;
  }
  const double bound = reader.number();
  if (!std::isfinite(bound)) reader.problem("must be a finite number");
  return bound;
}

void read_range(Parameter& parameter, base::JsonReader& reader) {
  base::JsonReader min = reader.optional("min");
  parameter.min = read_bound(parameter, min);
  parameter.max = read_bound(parameter, reader.optional("max"));
  if (parameter.min && parameter.max && *parameter.min > *parameter.max) {
    min.problem("the minimum is above the maximum");
  }
}

void read_values(Parameter& parameter, base::JsonReader& reader) {
  if (parameter.type != ParameterType::enumeration) {
    const base::JsonReader values = reader.optional("values");
    if (values.exists()) values.problem("only parameters of type enum have values");
    return;
  }
  base::JsonReader values = reader.optional("values");
  if (!values.exists() && reader.is_object())
    reader.problem("'values' is missing: type enum wants the words that are allowed",
                   R"(such as "values": ["adam", "sgd"], "default": "adam")");
  parameter.values = read_distinct(values);
  if (values.is_array() && parameter.values.empty())
    values.problem("must not be empty", R"(such as "values": ["adam", "sgd"])");
}

bool has_type(ParameterType type, const base::JsonReader& reader) {
  if (type == ParameterType::integer) return reader.is_integer();
  if (type == ParameterType::real) return reader.is_number();
  return type == ParameterType::boolean ? reader.is_boolean() : reader.is_string();
}

ParameterItem item_of(ParameterValue value) {
  return std::visit(
      [](auto& one) -> ParameterItem {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, ParameterList>)
          return {};
        else
          return std::move(one);
      },
      value);
}

ParameterValue read_list_of(const Parameter& parameter, base::JsonReader reader) {
  if (!reader.is_array())
    reader.problem(base::canonical_json(reader.json()) + " is not an array",
                   "the value of a list is [1, 2] here, and 1,2 in a command");
  ParameterList list;
  Parameter each = parameter;
  each.type = parameter.items;
  for (const base::JsonReader& item : reader.items()) {
    ParameterValue value = read_value_of(each, item);
    const auto* const text = std::get_if<std::string>(&value);
    if (text != nullptr && item.is_string() && !is_item_text(*text))
      item.problem("'" + base::printable(*text) + "' is empty or has a comma");
    list.items.push_back(item_of(std::move(value)));
  }
  return list;
}

}  // namespace

std::string_view to_string(ParameterType type) {
  return type_words.at(static_cast<std::size_t>(type));
}

nlohmann::json to_json(const ParameterValue& value) {
  struct Json {
    nlohmann::json operator()(bool flag) const { return flag; }
    nlohmann::json operator()(std::int64_t number) const { return number; }
    nlohmann::json operator()(double number) const { return base::json_number(number); }
    nlohmann::json operator()(const std::string& text) const { return text; }
    nlohmann::json operator()(const ParameterList& list) const {
      auto array = nlohmann::json::array();
      for (const ParameterItem& item : list.items)
        array.push_back(std::visit(*this, item));
      return array;
    }
  };
  return std::visit(Json{}, value);
}

ParameterValue read_parameter_value(base::JsonReader reader) {
  if (reader.is_boolean()) return reader.boolean();
  if (reader.is_integer()) return reader.integer();
  if (reader.is_number()) return reader.number();
  if (reader.is_array()) {
    ParameterList list;
    for (const base::JsonReader& item : reader.items()) {
      if (item.is_array())
        item.problem("is a list in a list");
      else
        list.items.push_back(item_of(read_parameter_value(item)));
    }
    return list;
  }
  if (reader.exists() && !reader.is_string()) {
    reader.problem("must be a string, a number, true, false, or an array of these");
    return {};
  }
  return reader.string();
}

ParameterValue read_value_of(const Parameter& parameter, base::JsonReader reader) {
  if (!reader.exists()) return {};
  if (parameter.type == ParameterType::list) return read_list_of(parameter, reader);
  if (!has_type(parameter.type, reader)) {
    reader.problem(base::canonical_json(reader.json()) + " is not " + allowed_values(parameter));
    return {};
  }
  // A whole number is a value of a parameter of type float, too.
  const bool is_real = parameter.type == ParameterType::real;
  ParameterValue value = is_real ? reader.number() : read_parameter_value(reader);
  if (const auto problem = why_not_allowed(parameter, value)) {
    reader.problem(*problem, "allowed: " + allowed_values(parameter));
  }
  if (const auto* text = std::get_if<std::string>(&value)) check_argument(*text, reader);
  return value;
}

Parameter read_parameter(const std::string& name, base::JsonReader reader) {
  Parameter parameter;
  parameter.name = name;
  check_name(name, reader);
  const auto type = read_type(reader.required("type"), std::ssize(type_words));
  if (!type) return parameter;  // what its other keys mean depends on it
  parameter.type = *type;
  if (parameter.type == ParameterType::list) {
    const auto items = read_type(reader.required("of"), 4);
    if (!items) return parameter;
    parameter.items = *items;
  }
  read_range(parameter, reader);
  read_values(parameter, reader);
  parameter.default_value = read_value_of(parameter, reader.required("default"));
  parameter.affects_result = reader.optional("affects").one_of({"result", "execution"}) == "result";
  parameter.unit = reader.optional("unit").string();
  parameter.description = reader.optional("description").string();
  reader.finish();
  return parameter;
}

nlohmann::ordered_json to_json(const Parameter& parameter) {
  nlohmann::ordered_json json = {{"type", to_string(parameter.type)}};
  if (parameter.type == ParameterType::list) json["of"] = to_string(parameter.items);
  json["default"] = to_json(parameter.default_value);
  if (parameter.min) json["min"] = base::json_number(*parameter.min);
  if (parameter.max) json["max"] = base::json_number(*parameter.max);
  if (!parameter.values.empty()) json["values"] = parameter.values;
  if (!parameter.affects_result) json["affects"] = "execution";
  if (!parameter.unit.empty()) json["unit"] = parameter.unit;
  if (!parameter.description.empty()) json["description"] = parameter.description;
  return json;
}

}  // namespace sabath::spec

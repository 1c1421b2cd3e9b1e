#include <sabath/base/error.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/parameter.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace sabath::spec {
namespace {

/// Both fit: 64 bits of precision hold every int64 and every double's integer part that matters.
long double wide(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return std::get<double>(value);
}

template <class Number>
std::string number_text(Number value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc{} ? std::string(buffer.data(), end) : std::string();
}

std::optional<ParameterItem> parse_item(ParameterType type, std::string_view text) {
  switch (type) {
    case ParameterType::integer:
      return base::number_in<std::int64_t>(text);
    case ParameterType::real:
      return base::number_in<double>(text);
    case ParameterType::boolean:
      if (text != "true" && text != "false") return std::nullopt;
      return text == "true";
    case ParameterType::text:
    case ParameterType::enumeration:
      return std::string(text);
    case ParameterType::list:
      break;
  }
  return std::nullopt;
}

ParameterValue value_of(const ParameterItem& item) {
  return std::visit([](const auto& value) { return ParameterValue(value); }, item);
}

std::optional<ParameterValue> parse_value(const Parameter& parameter, std::string_view text) {
  if (parameter.type != ParameterType::list) {
    const auto item = parse_item(parameter.type, text);
    return item ? std::optional(value_of(*item)) : std::nullopt;
  }
  ParameterList list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto item = parse_item(parameter.items, text.substr(0, comma));
    // "1," has an empty item at its end.
    if (!item || comma + 1 == text.size()) return std::nullopt;
    list.items.push_back(*item);
    text.remove_prefix(std::min(comma, text.size() - 1) + 1);
  }
  return list;
}

Parameter each_of(const Parameter& list) {
  Parameter each = list;
  each.type = list.items;
  return each;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string allowed_range(const Parameter& parameter) {
  if (parameter.min && parameter.max) {
    return " from " + number_text(*parameter.min) + " to " + number_text(*parameter.max);
  }
  if (parameter.min) return " of at least " + number_text(*parameter.min);
  if (parameter.max) return " of at most " + number_text(*parameter.max);
  return "";
}

}  // namespace

std::string to_string(const ParameterValue& value) {
  struct Text {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return number_text(number); }
    std::string operator()(double number) const { return number_text(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const ParameterList& list) const {
      std::string text;
      for (std::size_t i = 0; i < list.items.size(); ++i)
        text += (i == 0 ? "" : ",") + std::visit(*this, list.items[i]);
      return text;
    }
  };
  return std::visit(Text{}, value);
}

bool is_item_text(std::string_view text) {
  return !text.empty() && text.find(',') == std::string_view::npos;
}

std::optional<std::string> why_not_allowed(const Parameter& parameter,
                                           const ParameterValue& value) {
  if (const auto* list = std::get_if<ParameterList>(&value)) {
    for (const ParameterItem& item : list->items) {
      if (auto problem = why_not_allowed(each_of(parameter), value_of(item))) return problem;
      const auto* text = std::get_if<std::string>(&item);
      if (text != nullptr && !is_item_text(*text))
        return "'" + base::printable(*text) + "' is empty or has a comma";
    }
    return std::nullopt;
  }
  const std::string text = base::printable(to_string(value));
  if (parameter.type == ParameterType::integer || parameter.type == ParameterType::real) {
    const long double number = wide(value);
    if (!std::isfinite(number)) return text + " is not a finite number";
    if (parameter.min && number < *parameter.min) {
      return text + " is below its minimum " + number_text(*parameter.min);
    }
    if (parameter.max && number > *parameter.max) {
      return text + " is above its maximum " + number_text(*parameter.max);
    }
  }
  const auto& values = parameter.values;
  if (parameter.type == ParameterType::enumeration &&
      std::find(values.begin(), values.end(), std::get<std::string>(value)) == values.end()) {
    return "'" + text + "' is not one of " + joined(values);
  }
  return std::nullopt;
}

std::string allowed_values(const Parameter& parameter) {
  switch (parameter.type) {
    case ParameterType::integer:
      return "an integer" + allowed_range(parameter);
    case ParameterType::real:
      return "a number" + allowed_range(parameter);
    case ParameterType::boolean:
      return "true or false";
    case ParameterType::text:
      return "any text";
    case ParameterType::enumeration:
      return "one of " + joined(parameter.values);
    case ParameterType::list:
      return "a list such as '1,2', each " + allowed_values(each_of(parameter));
  }
  return "";
}

ParameterValue parse_parameter(const Parameter& parameter, std::string_view text) {
  const std::string place = "parameter '" + parameter.name + "': ";
  const std::string hint = "allowed: " + allowed_values(parameter);
  auto value = parse_value(parameter, text);
  if (!value) {
    throw base::Error(base::ErrorKind::usage,
                      place + "'" + base::printable(text) + "' is not " + allowed_values(parameter),
                      hint);
  }
  if (const auto problem = why_not_allowed(parameter, *value)) {
    throw base::Error(
        base::ErrorKind::usage, place + *problem, base::did_you_mean(text, parameter.values, hint));
  }
  return *std::move(value);
}

}  // namespace sabath::spec

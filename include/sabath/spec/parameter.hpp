#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::spec {

using ParameterItem = std::variant<bool, std::int64_t, double, std::string>;
/// Its items have one type; no text has a comma.
struct ParameterList {
  std::vector<ParameterItem> items{};

  bool operator==(const ParameterList&) const = default;
  bool operator<(const ParameterList& other) const { return items < other.items; }
};
using ParameterValue = std::variant<bool, std::int64_t, double, std::string, ParameterList>;
using ParameterValues = std::map<std::string, ParameterValue>;

enum class ParameterType { integer, real, boolean, text, enumeration, list };

struct Parameter {
  std::string name{};
  ParameterType type = ParameterType::text;
  ParameterType items = ParameterType::text;  ///< of a list; none is an enumeration or a list
  ParameterValue default_value{};
  std::optional<double> min{};  ///< of a number, or of each in a list
  std::optional<double> max{};
  std::vector<std::string> values{};  ///< of an enumeration
  bool affects_result = true;         ///< false for "affects": "execution"
  std::string unit{};
  std::string description{};

  bool operator==(const Parameter&) const = default;
};

/// "5", "0.003" (shortest text with the same bits), "true", "ordered", "64,64,32".
std::string to_string(const ParameterValue& value);
nlohmann::json to_json(const ParameterValue& value);

/// Reads `text` (of --set NAME=TEXT) as a value of `parameter`. Throws Error{usage} when it has the
/// wrong type, is not finite, out of range or none of the values; says what is allowed.
ParameterValue parse_parameter(const Parameter& parameter, std::string_view text);

/// Can the text be an item of a list? Not if it is empty or has a comma.
bool is_item_text(std::string_view text);

/// Why `value`, which has the parameter's type, is not allowed: "0 is below its minimum 1".
std::optional<std::string> why_not_allowed(const Parameter& parameter, const ParameterValue& value);
/// What is allowed, in words: "an integer from 1 to 100", "one of ordered, fast".
std::string allowed_values(const Parameter& parameter);

}  // namespace sabath::spec

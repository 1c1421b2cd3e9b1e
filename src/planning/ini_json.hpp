#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

// INI files whose values are literals of Python, as CANDLE's benchmarks read them.

namespace sabath::planning {

/// {"Global_Params": {"dense": [1000, 1000], "activation": "relu"}}. A value that is not a literal
/// is a text. Keys before the first section stand beside the sections. Throws Error{usage}.
nlohmann::ordered_json parse_ini(std::string_view text, const std::string& origin);

/// Returns `text` with other values for keys that it has; `values` has the form of parse_ini. All
/// other lines, and comments, stay.
std::string edit_ini(std::string_view text, const nlohmann::ordered_json& values);

}  // namespace sabath::planning

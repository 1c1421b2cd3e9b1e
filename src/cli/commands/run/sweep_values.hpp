#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cli {

/// The values of `--sweep NAME=[...]`, a JSON array: they may be empty and have commas. An array
/// within is a value of a list. Returns nothing for a text that is not such an array.
std::optional<std::vector<std::string>> sweep_array(std::string_view text);

}  // namespace sabath::cli

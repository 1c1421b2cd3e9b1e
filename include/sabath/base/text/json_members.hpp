#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sabath::base {

/// A member of an object that is wanted, or of each object of an array.
struct JsonPart {
  std::string_view key{};
  std::span<const JsonPart> parts{};  ///< what is wanted of its value; none: all
};

/// The text of a JSON object with only those of its members that are in `parts`. What is left out
/// is not checked, which makes this many times faster than parsing. Nothing where `text` is not an
/// object, or does not end as one: a parser tells what is wrong with it.
std::optional<std::string> json_members(std::string_view text, std::span<const JsonPart> parts);

}  // namespace sabath::base

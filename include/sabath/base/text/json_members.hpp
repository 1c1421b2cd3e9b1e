#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sabath::base {

/// A wanted member of an object, or of each object of an array.
struct JsonPart {
  std::string_view key{};
  std::span<const JsonPart> parts{};  ///< wanted members of its value; none: all
};

/// Returns the text of a JSON object with only those members that are in `parts`, numbers as they
/// are written. Many times faster than a parse into a document. Returns nothing if `text` is not an
/// object.
std::optional<std::string> json_members(std::string_view text, std::span<const JsonPart> parts);

}  // namespace sabath::base

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sabath::arrays {

/// A stream's or a metric's name as the name of an HDF5 link: '/', '%', control characters and a
/// leading dot become %XX, and the empty name "%", so that every name has one form and comes back.
std::string link_name(std::string_view name);
/// The reverse; nothing when `link` was not made so.
std::optional<std::string> name_of_link(std::string_view link);

}  // namespace sabath::arrays

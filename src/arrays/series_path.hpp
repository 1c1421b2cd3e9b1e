#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sabath::arrays {

/// Name of an HDF5 link for the name of a stream or a metric. '/', '%', control characters and a
/// leading dot become %XX; the empty name becomes "%". Every name has one form and can be restored.
std::string link_name(std::string_view name);
/// Restores the name; nothing for a link that has another form.
std::optional<std::string> name_of_link(std::string_view link);

}  // namespace sabath::arrays

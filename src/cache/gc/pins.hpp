#pragma once

#include "layout.hpp"

#include <sabath/cache/keeping.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::cache {

std::string pin_text(const Pin& pin);
/// Throws Error{usage}.
Pin parse_pin(std::string_view text, const std::string& origin);

/// Those that can be read, sorted by name.
std::vector<Pin> pins_in(const Layout& layout);
/// Where this user's pin of that name lies.
std::filesystem::path pin_path(const Layout& layout, const std::string& name);

}  // namespace sabath::cache

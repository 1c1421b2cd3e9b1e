#pragma once

#include <string>
#include <string_view>

namespace sabath::base {

/// JSON text with the same meaning that is safe to show: control characters, bidirectional marks
/// and invisible characters become \uXXXX. Newlines and tabs between values stay. An invalid byte
/// becomes U+FFFD.
std::string printable_json(std::string_view json);

}  // namespace sabath::base

#pragma once

#include <string>

namespace sabath::base {

/// Text of a duration, as format_duration gives it. A damaged record may hold any double: where 64
/// bits of nanoseconds do not suffice the text is "1e+308 s".
std::string seconds_text(double seconds);

}  // namespace sabath::base

#pragma once

#include <string_view>

namespace sabath::collect {

/// `value` in `unit`, where the number that `text` begins with has a unit of the same kind behind
/// it: a time ("950ms", "1.2 s", "3 min"), bytes ("512 MiB", "1.5GB"), or a share ("93 %" of a
/// metric in "1"). Else as it is: an unknown unit says nothing.
double in_unit(double value, std::string_view text, std::string_view unit);

}  // namespace sabath::collect

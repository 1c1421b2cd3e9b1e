#pragma once

#include <optional>
#include <string_view>

namespace sabath::collect {

/// `value` in `unit`, where the number that `text` begins with has a unit of the same kind behind
/// it: a time ("950ms", "1.2 s", "3 min"), bytes ("512 MiB", "1.5GB"), or a share ("93 %" of a
/// metric in "1"); of "3ms/step" the part before the stroke. Nothing where what stands right behind
/// the number makes it another one: "5k", "3m" of a time, "2.5 s/it" of a rate. Else as it is: a
/// word behind it says nothing.
std::optional<double> in_unit(double value, std::string_view text, std::string_view unit);

}  // namespace sabath::collect

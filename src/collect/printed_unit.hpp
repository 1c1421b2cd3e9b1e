#pragma once

#include <optional>
#include <string_view>

namespace sabath::collect {

/// `value` in `unit`, where the number that `text` begins with has a unit behind it that differs
/// from `unit` in no more than a prefix or a name: "950ms" of a metric in "s", "3.5 GB/s" in "B/s",
/// "93 %" in "1"; of "3ms/step" the part before the stroke. Nothing where what stands there is
/// another unit, or makes it another number: "3 GHz" of a "W", "5k", "3m" of a time, "2.5 s/it" of
/// a rate. Else as it is: a word behind a blank that is no unit says nothing.
std::optional<double> in_unit(double value, std::string_view text, std::string_view unit);

/// The unit behind the number that `text` begins with; empty: none, or a word that is not known.
std::string_view known_unit(std::string_view text);

/// That number, and what stands behind it as its unit may: "3 GHz".
std::string_view with_unit(std::string_view text);

}  // namespace sabath::collect

#pragma once

#include <optional>
#include <string_view>

namespace sabath::collect {

/// Converts `value`, the number at the beginning of `text`, from its printed unit to `unit`:
/// "950ms" to "s", "3.5 GB/s" to "B/s", "93 %" to "1". Of "3ms/step" the part before the stroke
/// counts. Returns nothing for another unit ("3 GHz" of a "W", "5k", "2.5 s/it" of a rate). Returns
/// `value` if no unit follows: a word behind a blank that is not a unit is ignored.
std::optional<double> in_unit(double value, std::string_view text, std::string_view unit);

/// The unit behind the number at the beginning of `text`; empty if it is missing or unknown.
std::string_view known_unit(std::string_view text);

/// Whether `in_unit` ignored a word behind a blank, of a metric whose unit is not "1". It may be a
/// unit that is not known.
bool has_unknown_word(std::string_view text, std::string_view unit);

/// That number with the word behind it: "3 GHz".
std::string_view with_unit(std::string_view text);

}  // namespace sabath::collect

#pragma once

#include <sabath/base/text/exact_number.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sabath::collect {

/// Text allowed behind a number: nothing, or its printed unit ("12.5s", "93 %").
enum class Suffix { none, unit };

/// Reads `text`, with blanks around it, as a number rounded once: "0.5", "-1e-3", "nan", "inf",
/// "0x1.8p3", Fortran's "1.0D-05". Returns nothing for all else, such as "1,5", "1e999" and 1e-400,
/// which is not 0.
std::optional<double> number_of(std::string_view text);
/// The same with all digits of a whole number, also of "0xFFFFFFFFFFFFFFFF". Returns nothing for
/// one with more digits than base::ExactNumber holds.
std::optional<base::ExactNumber> exact_number_of(std::string_view text,
                                                 Suffix suffix = Suffix::none);
/// Why `text` is not such a number: "is not a number", "is too small", "is too large", "has more
/// digits than can be kept". Empty if it is one.
std::string_view number_problem(std::string_view text);
/// Length of the number, with its sign, at the beginning of `text`; 0 if there is none.
std::size_t number_size(std::string_view text);
/// Reads a whole number, also written "3.0" and "3e2". No digit is rounded. Returns nothing for all
/// else.
std::optional<std::int64_t> whole_number_of(std::string_view text);
/// Whether `text` begins with a finite number, and whole_number_of refuses it: "0.5", "1e30",
/// "1e-400", "1,000".
bool is_not_whole(std::string_view text);
/// Reads seconds: a number, or "2026-11-20T10:32:05.123Z", also with a blank for the T, a comma for
/// the point, and without a zone (UTC). Returns nothing for all else.
std::optional<double> seconds_of(std::string_view text);

}  // namespace sabath::collect

#pragma once

#include <sabath/base/text/exact_number.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sabath::collect {

/// What may stand behind a number: nothing, or the unit that it was printed with ("12.5s", "93 %").
enum class Suffix { none, unit };

/// The number that `text` (blanks around it allowed) is, rounded once: "0.5", "-1e-3", "nan",
/// "inf", "0x1.8p3", Fortran's "1.0D-05". Nothing for all else: "1,5" and "1e999" are no numbers.
std::optional<double> number_of(std::string_view text, Suffix suffix = Suffix::none);
/// The same without loss of a whole number's digits, "0xFFFFFFFFFFFFFFFF" too. Nothing for one that
/// has more than base::ExactNumber holds.
std::optional<base::ExactNumber> exact_number_of(std::string_view text,
                                                 Suffix suffix = Suffix::none);
/// How long the number is that `text` begins with, its sign and all; 0: it begins with none.
std::size_t number_size(std::string_view text);
/// A whole number, also written "3.0"; nothing for all else.
std::optional<std::int64_t> whole_number_of(std::string_view text);
/// Seconds: a number, or "2026-11-20T10:32:05.123Z", with a blank for the T, a comma for the point,
/// and UTC where no zone is said. Nothing for all else.
std::optional<double> seconds_of(std::string_view text);

}  // namespace sabath::collect

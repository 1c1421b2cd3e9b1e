#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// A number of a metric: `value` is the nearest double, `value + rest` the number itself. `rest` is
/// 0 if a double holds the number, and never 0 for other whole numbers: 2^53 + 1 is {2^53, 1}.
struct ExactNumber {
  double value = 0;
  double rest = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 behind <=> for a pointer
  auto operator<=>(const ExactNumber&) const = default;
};

/// 2^53: from here on a double does not hold every whole number.
inline constexpr double first_inexact_whole = 9007199254740992.0;

/// Whole numbers below this are shown with all their digits.
inline constexpr double first_shortened_whole = 1e21;

ExactNumber exact_number(std::int64_t number);
ExactNumber exact_number(std::uint64_t number);

/// Digits of the whole number that the decimal `text` writes, without its sign: "12" of "-12.0".
/// Returns nothing for another number, or if more than `most_zeros` digits before the point are not
/// written, as in "12e3".
std::optional<std::string> whole_digits(std::string_view text, std::size_t most_zeros = 0);

/// Reads the decimal `text` ("-12", "9007199254740993.0", "12e3"), whose nearest double is `value`.
/// A text is a whole number if it has every digit down to the ones and only zeros behind the point;
/// for other texts the double counts. Returns nothing for a whole number with more digits than two
/// doubles hold (about 32).
std::optional<ExactNumber> exact_decimal(std::string_view text, double value);

/// Whole numbers: all digits. All else: the shortest text that gives the same double.
std::string text_of(const ExactNumber& number);

}  // namespace sabath::base

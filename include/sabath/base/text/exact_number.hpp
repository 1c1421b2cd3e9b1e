#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// A number of a metric: `value` is the double nearest to it, and `value + rest` the number itself.
/// `rest` is 0 for all that a double holds, and never 0 for a whole number that it does not: 2^53 +
/// 1 is {2^53, 1}.
struct ExactNumber {
  double value = 0;
  double rest = 0;

  bool operator==(const ExactNumber&) const = default;
};

/// From here on a double does not hold every whole number: 2^53.
inline constexpr double first_inexact_whole = 9007199254740992.0;

/// Whole numbers below this are shown with all their digits.
inline constexpr double first_shortened_whole = 1e21;

ExactNumber exact_number(std::int64_t number);
ExactNumber exact_number(std::uint64_t number);

/// The number that the decimal `text` ("-12", "9007199254740993.0", "12e3") says, where `value` is
/// the double nearest to it. A text counts as a whole number if it writes every digit down to the
/// ones and nothing but zeros behind the point; of all else the double counts. Nothing for a whole
/// number with more digits than two doubles hold (about 32).
std::optional<ExactNumber> exact_decimal(std::string_view text, double value);

/// Whole numbers: all digits. All else: the shortest text that gives the same double.
std::string text_of(const ExactNumber& number);

}  // namespace sabath::base

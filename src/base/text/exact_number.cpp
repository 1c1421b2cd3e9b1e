#include <sabath/base/text/exact_number.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sabath::base {
namespace {

__extension__ using Wide = __int128;

template <class Integer>
ExactNumber from_integer(Integer number) {
  const auto value = static_cast<double>(number);
  return {value, static_cast<double>(static_cast<Wide>(number) - static_cast<Wide>(value))};
}

/// All digits of a whole number, without its sign.
std::string digits_of(double whole) {
  return fmt::format("{:.0f}", std::abs(whole));
}

bool is_less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::string sum_of(const std::string& a, const std::string& b) {
  std::string sum;
  int carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry > 0; ++i) {
    if (i < a.size()) carry += a[a.size() - 1 - i] - '0';
    if (i < b.size()) carry += b[b.size() - 1 - i] - '0';
    sum += static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  std::reverse(sum.begin(), sum.end());
  return sum;
}

/// a - b, where a is not less than b.
std::string difference_of(const std::string& a, const std::string& b) {
  std::string difference;
  int borrowed = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' - borrowed;
    if (i < b.size()) digit -= b[b.size() - 1 - i] - '0';
    borrowed = digit < 0 ? 1 : 0;
    difference += static_cast<char>('0' + digit + 10 * borrowed);
  }
  while (difference.size() > 1 && difference.back() == '0')
    difference.pop_back();
  std::reverse(difference.begin(), difference.end());
  return difference;
}

/// The digits of a whole number that the text writes down to the ones; nothing for all else.
std::optional<std::string> whole_digits(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t mark = text.find_first_of("eEdD");
  long exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, exponent);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    text = text.substr(0, mark);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  if (point < text.size()) digits += text.substr(point + 1);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const long ones = static_cast<long>(point) + exponent;  // so many digits stand before the point
  if (ones <= 0 || ones > static_cast<long>(digits.size())) return std::nullopt;
  const auto whole = static_cast<std::size_t>(ones);
  if (digits.find_first_not_of('0', whole) != std::string::npos) return std::nullopt;
  digits.resize(whole);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

}  // namespace

ExactNumber exact_number(std::int64_t number) {
  return from_integer(number);
}

ExactNumber exact_number(std::uint64_t number) {
  return from_integer(number);
}

std::optional<ExactNumber> exact_decimal(std::string_view text, double value) {
  if (!(std::abs(value) >= first_inexact_whole) || std::isinf(value)) return ExactNumber{value};
  const auto digits = whole_digits(text);
  if (!digits) return ExactNumber{value};
  const std::string nearest = digits_of(value);
  const bool is_below = is_less(*digits, nearest);
  const std::string difference =
      is_below ? difference_of(nearest, *digits) : difference_of(*digits, nearest);
  double rest = 0;
  const char* const end = difference.data() + difference.size();
  if (std::from_chars(difference.data(), end, rest).ec != std::errc{}) return std::nullopt;
  if (digits_of(rest) != difference) return std::nullopt;
  if (rest != 0 && is_below != (value < 0)) rest = -rest;
  return ExactNumber{value, rest};
}

std::string text_of(const ExactNumber& number) {
  const bool is_large = std::abs(number.value) >= first_inexact_whole;
  if (!is_large || std::isinf(number.value)) return fmt::format("{}", number.value);
  const std::string value = digits_of(number.value);
  const std::string rest = digits_of(number.rest);
  const bool is_further = (number.rest < 0) == (number.value < 0);
  return (number.value < 0 ? "-" : "") +
         (is_further ? sum_of(value, rest) : difference_of(value, rest));
}

}  // namespace sabath::base

#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::base {
namespace {

__extension__ using Wide = __int128;
using Whole = boost::multiprecision::cpp_int;

template <class Integer>
ExactNumber from_integer(Integer number) {
  const auto value = static_cast<double>(number);
  return {value, static_cast<double>(static_cast<Wide>(number) - static_cast<Wide>(value))};
}

}  // namespace

ExactNumber exact_number(std::int64_t number) {
  return from_integer(number);
}

ExactNumber exact_number(std::uint64_t number) {
  return from_integer(number);
}

std::optional<std::string> whole_digits(std::string_view text, std::size_t most_zeros) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t mark = text.find_first_of("eEdD");
  long exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto read = number_in<long>(digits);
    if (!read) return std::nullopt;
    exponent = *read;
    text = text.substr(0, mark);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  if (point < text.size()) digits += text.substr(point + 1);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  if (digits.find_first_not_of('0') == std::string::npos) return "0";
  constexpr long most = 1'000'000;  // far beyond what any number has
  if (exponent > most || exponent < -most) return std::nullopt;
  const long ones = static_cast<long>(point) + exponent;  // so many digits stand before the point
  if (ones <= 0) return std::nullopt;
  const auto whole = static_cast<std::size_t>(ones);
  if (whole > digits.size() + most_zeros) return std::nullopt;
  if (whole < digits.size() && digits.find_first_not_of('0', whole) != std::string::npos)
    return std::nullopt;
  digits.resize(whole, '0');
  digits.erase(0, digits.find_first_not_of('0'));
  return digits;
}

std::optional<ExactNumber> exact_decimal(std::string_view text, double value) {
  if (!(std::abs(value) >= first_inexact_whole) || std::isinf(value)) return ExactNumber{value};
  const auto digits = whole_digits(text);
  if (!digits) return ExactNumber{value};
  const Whole size(*digits);
  const Whole difference = (value < 0 ? Whole(-size) : size) - Whole(value);
  const auto rest = difference.convert_to<double>();
  if (!std::isfinite(rest) || Whole(rest) != difference) return std::nullopt;
  return ExactNumber{value, rest};
}

std::string text_of(const ExactNumber& number) {
  const bool is_large = std::abs(number.value) >= first_inexact_whole;
  if (!is_large || std::isinf(number.value) || !std::isfinite(number.rest))
    return fmt::format("{}", number.value);
  return Whole(Whole(number.value) + Whole(number.rest)).str();
}

}  // namespace sabath::base

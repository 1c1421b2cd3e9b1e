#include <sabath/base/clock.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/collect/number_text.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace sabath::collect {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Whether another number follows a unit: "12m30s", "5ms-10ms". The exponents of "m2" and "m-1" are
/// none, but "b101" is.
bool goes_on_with_a_number(std::string_view text) {
  auto digit = std::find_if_not(text.begin(), text.end(), is_letter);
  if (digit == text.begin() || digit == text.end()) return false;
  const bool is_range = *digit == '-' || *digit == ':';
  if (is_range) ++digit;
  if (digit == text.end() || !is_digit(*digit)) return false;
  const auto behind = std::find_if_not(digit, text.end(), is_digit);
  return (behind != text.end() && is_letter(*behind)) || behind - digit > 1;
}

bool is_unit(std::string_view text) {
  text = trimmed(text);
  if (goes_on_with_a_number(text)) return false;
  return text.empty() || is_letter(text.front()) || text.front() == '%' ||
         static_cast<unsigned char>(text.front()) >= 0x80;
}

/// A date as RFC 3339 has it, also with a comma for the point, blanks before the zone, a zone
/// without a colon, or without a zone (UTC).
std::optional<double> date_seconds(std::string_view text) {
  constexpr std::size_t clock_end = 19;
  const std::size_t zone_at = std::min(text.find_first_of("Z+-", clock_end), text.size());
  std::string date(trimmed(text.substr(0, zone_at)));
  std::string zone(text.substr(zone_at));
  if (date.size() > clock_end && date[clock_end] == ',') date[clock_end] = '.';
  if (zone.size() == 5) zone.insert(3, ":");
  const auto time = base::parse_rfc3339(date + (zone.empty() ? "Z" : zone));
  if (!time) return std::nullopt;
  const auto whole = std::chrono::floor<std::chrono::seconds>(*time);
  return static_cast<double>(whole.time_since_epoch().count()) +
         std::chrono::duration<double>(*time - whole).count();
}

/// What a text begins with.
struct Beginning {
  std::optional<double> value{};  ///< nothing: not a number, or outside of double
  std::size_t size = 0;           ///< 0: not a number
  bool is_too_small = false;      ///< not zero, but zero is the nearest double
};

/// Whether a number has a digit other than 0 before its exponent.
bool is_not_zero(std::string_view digits, bool is_hex) {
  digits = digits.substr(0, digits.find_first_of(is_hex ? "pP" : "eE"));
  return digits.find_first_of(is_hex ? "123456789abcdefABCDEF" : "123456789") !=
         std::string_view::npos;
}

Beginning read_beginning(const char* const text, const char* begin, const char* const end) {
  const bool is_hex = end - begin > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
  const char* const digits = is_hex ? begin + 2 : begin;
  Beginning read;
  double value = 0;
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  const auto [stop, error] = std::from_chars(digits, end, value, format);
  if (error == std::errc::invalid_argument) return read;
  read.size = static_cast<std::size_t>(stop - text);
  if (error == std::errc::result_out_of_range) {  // also of numbers that are subnormal
    value = std::strtod(std::string(begin, stop).c_str(), nullptr);
    if (std::isinf(value)) return read;
  }
  const std::string_view written(digits, static_cast<std::size_t>(stop - digits));
  read.is_too_small = value == 0 && is_not_zero(written, is_hex);
  if (!read.is_too_small) read.value = value;
  return read;
}

/// Fortran's exponent of a double, "D-05", that `text` has at `at`: how long it is.
std::size_t fortran_exponent(std::string_view text, std::size_t at) {
  if (at == 0 || at >= text.size() || (text[at] != 'd' && text[at] != 'D')) return 0;
  const std::string_view number = text.substr(0, at);
  if (number.find_first_not_of("0123456789.+-") != std::string_view::npos) return 0;
  std::size_t end = at + 1;
  const bool is_signed = end < text.size() && (text[end] == '+' || text[end] == '-');
  if (is_signed) ++end;
  const std::size_t digit = end;
  while (end < text.size() && is_digit(text[end]))
    ++end;
  if (end == digit) return 0;
  // "1d12h" is a day and twelve hours.
  const bool is_plain = !is_signed && number.find('.') == std::string_view::npos;
  if (is_plain && end < text.size() && is_letter(text[end])) return 0;
  return end - at;
}

Beginning beginning_of(std::string_view text) {
  if (text.empty()) return {};
  const char* const end = text.data() + text.size();
  const char* const begin = text.data() + (text[0] == '+' || text[0] == '-' ? 1 : 0);
  // from_chars takes a second sign.
  if (begin == end || *begin == '+' || *begin == '-') return {};
  Beginning read = read_beginning(text.data(), begin, end);
  if (const std::size_t more = fortran_exponent(text, read.size); more > 0) {
    std::string c(begin, text.data() + read.size + more);
    c[c.size() - more] = 'e';
    const Beginning whole = read_beginning(c.data(), c.data(), c.data() + c.size());
    read = {whole.value, read.size + more, whole.is_too_small};
  }
  if (read.value && text[0] == '-') read.value = -*read.value;
  return read;
}

/// The number that is all of `text`, but for a unit behind it.
Beginning whole_text(std::string_view text, Suffix suffix) {
  const Beginning read = beginning_of(text);
  if (read.size == 0) return {};
  const std::string_view rest = text.substr(read.size);
  const bool is_other_base = read.size == 1 && text[0] == '0' && rest.size() > 1 &&
                             (rest[0] == 'b' || rest[0] == 'o') && is_digit(rest[1]);
  if (is_other_base) return {};  // "0b1", "0o7"
  return (suffix == Suffix::none ? rest.empty() : is_unit(rest)) ? read : Beginning{};
}

bool is_hexadecimal(std::string_view text) {
  return text.find_first_of("xX") != std::string_view::npos;
}

/// "0x1.8p3" is what a double prints as; whole numbers of up to 64 bits may have more digits.
std::optional<base::ExactNumber> exact_hexadecimal(std::string_view text, double value) {
  if (!(std::abs(value) >= base::first_inexact_whole) ||
      text.find_first_of(".pP") != std::string_view::npos) {
    return base::ExactNumber{value};
  }
  text.remove_prefix(text.find_first_of("xX") + 1);
  std::uint64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, whole, 16);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  const base::ExactNumber number = base::exact_number(whole);
  return value < 0 ? base::ExactNumber{-number.value, -number.rest} : number;
}

/// The whole number that a decimal is to the last digit: "3.0", but not "2.9999999999999999999".
std::optional<std::int64_t> exact_whole(std::string_view text) {
  auto digits = base::whole_digits(text, std::numeric_limits<std::int64_t>::digits10);
  if (!digits) return std::nullopt;
  if (text.starts_with('-')) digits->insert(0, 1, '-');
  return base::leading_number<std::int64_t>(*digits);
}

}  // namespace

std::optional<double> number_of(std::string_view text) {
  return whole_text(trimmed(text), Suffix::none).value;
}

std::optional<base::ExactNumber> exact_number_of(std::string_view text, Suffix suffix) {
  text = trimmed(text);
  const Beginning read = whole_text(text, suffix);
  if (!read.value) return std::nullopt;
  text = text.substr(0, read.size);
  return is_hexadecimal(text) ? exact_hexadecimal(text, *read.value)
                              : base::exact_decimal(text, *read.value);
}

std::string_view number_problem(std::string_view text) {
  if (exact_number_of(text)) return {};
  const Beginning read = whole_text(trimmed(text), Suffix::none);
  if (read.size == 0) return "is not a number";
  if (read.value) return "has more digits than can be kept";
  return read.is_too_small ? "is too small" : "is too large";
}

std::size_t number_size(std::string_view text) {
  return beginning_of(text).size;
}

std::optional<std::int64_t> whole_number_of(std::string_view text) {
  text = trimmed(text);
  const Beginning read = whole_text(text, Suffix::none);
  if (read.size == 0 || (read.value && !std::isfinite(*read.value))) return std::nullopt;
  if (!is_hexadecimal(text)) return exact_whole(text);
  if (!read.value || !(std::abs(*read.value) < 9e15) || std::trunc(*read.value) != *read.value)
    return std::nullopt;
  return static_cast<std::int64_t>(*read.value);
}

bool is_not_whole(std::string_view text) {
  const Beginning read = beginning_of(trimmed(text));
  return read.size > 0 && !(read.value && !std::isfinite(*read.value)) && !whole_number_of(text);
}

std::optional<double> seconds_of(std::string_view text) {
  text = trimmed(text);
  if (const auto seconds = number_of(text)) return seconds;
  return date_seconds(text);
}

}  // namespace sabath::collect

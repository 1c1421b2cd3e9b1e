#include <sabath/collect/number_text.hpp>

#include <algorithm>
#include <array>
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

/// Of "12m30s" and "1h5m": of the first number alone that would not be true.
bool goes_on_with_a_number(std::string_view text) {
  const auto digit = std::find_if_not(text.begin(), text.end(), is_letter);
  if (digit == text.begin() || digit == text.end() || !is_digit(*digit)) return false;
  const auto behind = std::find_if_not(digit, text.end(), is_digit);
  return behind != text.end() && is_letter(*behind);
}

bool is_unit(std::string_view text) {
  text = trimmed(text);
  if (goes_on_with_a_number(text)) return false;
  return text.empty() || is_letter(text.front()) || text.front() == '%' ||
         static_cast<unsigned char>(text.front()) >= 0x80;
}

/// A number too small for a double is the zero nearest to it; one too large is none.
std::optional<double> out_of_range(const char* begin, const char* end) {
  const double nearest = std::strtod(std::string(begin, end).c_str(), nullptr);
  if (std::isinf(nearest)) return std::nullopt;
  return nearest;
}

/// Decimal digits at `at`, exactly `count` of them.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// What a zone ("", "Z", "+01:00", "-0500") is ahead of UTC.
std::optional<double> zone_seconds(std::string_view zone) {
  if (zone.empty() || zone == "Z") return 0;
  if (zone.front() != '+' && zone.front() != '-') return std::nullopt;
  const std::size_t minutes_at = zone.size() == 6 && zone[3] == ':' ? 4 : 3;
  if (zone.size() != minutes_at + 2) return std::nullopt;
  const auto hours = digits(zone, 1, 2);
  const auto minutes = digits(zone, minutes_at, 2);
  if (!hours || !minutes || *minutes > 59) return std::nullopt;
  const double ahead = *hours * 3600.0 + *minutes * 60.0;
  return zone.front() == '-' ? -ahead : ahead;
}

std::optional<double> date_seconds(std::string_view text) {
  constexpr std::array<std::size_t, 6> at{0, 5, 8, 11, 14, 17};
  std::array<int, 6> part{};
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto value = digits(text, at[i], i == 0 ? 4 : 2);
    if (!value) return std::nullopt;
    part[i] = *value;
  }
  const bool punctuated = text[4] == '-' && text[7] == '-' &&
                          (text[10] == 'T' || text[10] == ' ') && text[13] == ':' &&
                          text[16] == ':';
  if (!punctuated || part[3] > 23 || part[4] > 59 || part[5] > 60) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(part[0]),
                                        std::chrono::month(static_cast<unsigned>(part[1])),
                                        std::chrono::day(static_cast<unsigned>(part[2]))};
  if (!day.ok()) return std::nullopt;
  std::size_t end = 19;
  std::string fraction = "0.";
  if (end < text.size() && (text[end] == '.' || text[end] == ',')) {
    for (++end; end < text.size() && is_digit(text[end]); ++end)
      fraction += text[end];
  }
  const auto zone = zone_seconds(trimmed(text.substr(end)));
  if (!zone) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  const double clock = part[3] * 3600.0 + part[4] * 60.0 + part[5];
  return static_cast<double>(days) * 86400.0 + clock - *zone +
         std::strtod(fraction.c_str(), nullptr);
}

/// What a text begins with.
struct Beginning {
  std::optional<double> value{};  ///< nothing: there is no number, or none that a double holds
  std::size_t size = 0;           ///< 0: there is no number
};

Beginning read_beginning(const char* const text, const char* begin, const char* const end) {
  const bool is_hex = end - begin > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
  const char* const digits = is_hex ? begin + 2 : begin;
  Beginning read;
  double value = 0;
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  const auto [stop, error] = std::from_chars(digits, end, value, format);
  if (error == std::errc::invalid_argument) return read;
  read.value = error == std::errc::result_out_of_range ? out_of_range(begin, stop) : value;
  read.size = static_cast<std::size_t>(stop - text);
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
    read.value = read_beginning(c.data(), c.data(), c.data() + c.size()).value;
    read.size += more;
  }
  if (read.value && text[0] == '-') read.value = -*read.value;
  return read;
}

/// The number that is all of `text`, but for a unit behind it.
Beginning whole_text(std::string_view text, Suffix suffix) {
  const Beginning read = beginning_of(text);
  if (read.size == 0) return {};
  const std::string_view rest = text.substr(read.size);
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

}  // namespace

std::optional<double> number_of(std::string_view text, Suffix suffix) {
  return whole_text(trimmed(text), suffix).value;
}

std::optional<base::ExactNumber> exact_number_of(std::string_view text, Suffix suffix) {
  text = trimmed(text);
  const Beginning read = whole_text(text, suffix);
  if (!read.value) return std::nullopt;
  text = text.substr(0, read.size);
  return is_hexadecimal(text) ? exact_hexadecimal(text, *read.value)
                              : base::exact_decimal(text, *read.value);
}

std::size_t number_size(std::string_view text) {
  return beginning_of(text).size;
}

std::optional<std::int64_t> whole_number_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc{} && stop == end && !text.empty()) return whole;
  const auto value = number_of(text);
  if (!value || !(std::abs(*value) < 9e15) || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> seconds_of(std::string_view text) {
  text = trimmed(text);
  if (const auto seconds = number_of(text)) return seconds;
  return date_seconds(text);
}

}  // namespace sabath::collect

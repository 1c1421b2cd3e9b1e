#include "printed_unit.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>

namespace sabath::collect {
namespace {

enum class Kind { time, bytes, share };

struct Unit {
  std::string_view name;
  Kind kind;
  double factor;  ///< how many of the kind's smallest it is: whole, so that ratios are exact
};

constexpr double us = 1e3;
constexpr double ms = 1e6;
constexpr double s = 1e9;
constexpr double minute = 60 * s;
constexpr double hour = 60 * minute;
constexpr double kib = 1024;

constexpr std::array<Unit, 36> units{{
    {"ns", Kind::time, 1},
    {"us", Kind::time, us},
    {"\xc2\xb5s", Kind::time, us},
    {"\xce\xbcs", Kind::time, us},
    {"ms", Kind::time, ms},
    {"msec", Kind::time, ms},
    {"s", Kind::time, s},
    {"sec", Kind::time, s},
    {"secs", Kind::time, s},
    {"second", Kind::time, s},
    {"seconds", Kind::time, s},
    {"min", Kind::time, minute},
    {"mins", Kind::time, minute},
    {"minute", Kind::time, minute},
    {"minutes", Kind::time, minute},
    {"h", Kind::time, hour},
    {"hr", Kind::time, hour},
    {"hrs", Kind::time, hour},
    {"hour", Kind::time, hour},
    {"hours", Kind::time, hour},
    {"B", Kind::bytes, 1},
    {"byte", Kind::bytes, 1},
    {"bytes", Kind::bytes, 1},
    {"kB", Kind::bytes, 1e3},
    {"KB", Kind::bytes, 1e3},
    {"MB", Kind::bytes, 1e6},
    {"GB", Kind::bytes, 1e9},
    {"TB", Kind::bytes, 1e12},
    {"PB", Kind::bytes, 1e15},
    {"KiB", Kind::bytes, kib},
    {"MiB", Kind::bytes, kib* kib},
    {"GiB", Kind::bytes, kib* kib* kib},
    {"TiB", Kind::bytes, kib* kib* kib* kib},
    {"%", Kind::share, 1},
    {"percent", Kind::share, 1},
    {"1", Kind::share, 100},
}};

const Unit* unit_called(std::string_view name) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == name; });
  return found == units.end() || name.empty() ? nullptr : &*found;
}

bool is_unit_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%' || c == '/' || c == '^' ||
         static_cast<unsigned char>(c) >= 0x80;
}

struct Printed {
  std::string_view number;   ///< without its sign
  std::string_view unit;     ///< the word right behind it, or behind one blank
  bool is_attached = false;  ///< there is no blank between them
};

Printed printed_of(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  double ignored = 0;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, ignored).ptr;
  if (end - at > 1 && (*at == 'd' || *at == 'D')) {  // Fortran's exponent of a double
    const char* const digit = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const char* const stop = std::find_if_not(digit, end, is_digit);
    // As number_of takes it: "1d12h" is a day and twelve hours.
    const bool is_plain = digit == at + 1 && std::find(text.data(), at, '.') == at;
    const bool is_letter = stop < end && std::isalpha(static_cast<unsigned char>(*stop)) != 0;
    if (stop > digit && !(is_plain && is_letter)) at = stop;
  }
  Printed printed{{text.data(), static_cast<std::size_t>(at - text.data())}, {}, true};
  if (at != end && *at == ' ') {
    printed.is_attached = false;
    ++at;
  }
  const char* const stop = std::find_if_not(at, end, is_unit_char);
  // "12 s3" and "12 h=3" are no times.
  const bool goes_on =
      stop != end && ((*stop >= '0' && *stop <= '9') || *stop == '_' || *stop == '=');
  if (!goes_on) printed.unit = {at, static_cast<std::size_t>(stop - at)};
  return printed;
}

/// k, where `ratio` (1 or more) is the k-th power of ten.
std::optional<int> power_of_ten(double ratio) {
  int power = 0;
  for (; ratio >= 10; ratio /= 10)
    ++power;
  return ratio == 1 ? std::optional(power) : std::nullopt;
}

/// The decimal `number` with its point moved, rounded once: 93.1 by -2 is 0.931, and not
/// 93.1 / 100.
std::optional<double> moved(std::string_view number, int power) {
  if (number.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  const std::size_t mark = number.find_first_of("eE");
  if (mark != std::string_view::npos) {
    std::string_view digits = number.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    int exponent = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc{})
      return std::nullopt;
    constexpr int most = 100'000;  // far beyond what any number has
    if (exponent > most || exponent < -most) return std::nullopt;
    power += exponent;
  }
  const std::string text = std::string(number.substr(0, mark)) + "e" + std::to_string(power);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

bool is_time(std::string_view name) {
  const Unit* unit = unit_called(name);
  return unit != nullptr && unit->kind == Kind::time;
}

/// Of "s/it" and "it/s" one is a rate.
bool is_inverse(std::string_view printed, std::string_view unit) {
  const std::size_t stroke = printed.find('/');
  const std::size_t of_unit = unit.find('/');
  return stroke != std::string_view::npos && of_unit != std::string_view::npos &&
         is_time(printed.substr(0, stroke)) && is_time(unit.substr(of_unit + 1)) &&
         !is_time(unit.substr(0, of_unit));
}

/// Does what is printed right behind the number say that it is another number than it looks?
bool is_other(const Printed& printed, const Unit* wanted, std::string_view unit) {
  constexpr std::array<std::string_view, 6> powers{"k", "K", "M", "G", "T", "P"};
  if (is_inverse(printed.unit, unit)) return true;
  if (!printed.is_attached || printed.unit.empty() || printed.unit == unit) return false;
  const bool is_power = std::find(powers.begin(), powers.end(), printed.unit) != powers.end();
  const bool is_amount =
      wanted != nullptr && (wanted->kind == Kind::time || wanted->kind == Kind::bytes);
  return is_power || is_amount;
}

}  // namespace

std::optional<double> in_unit(double value, std::string_view text, std::string_view unit) {
  const Unit* wanted = unit_called(unit);
  const Printed printed = printed_of(text);
  const bool is_per = printed.unit.find('/') != std::string_view::npos;
  const Unit* found = unit_called(
      is_per && wanted != nullptr ? printed.unit.substr(0, printed.unit.find('/')) : printed.unit);
  if (wanted == nullptr || found == nullptr || found->kind != wanted->kind)
    return is_other(printed, wanted, unit) ? std::nullopt : std::optional(value);
  if (found->factor == wanted->factor) return value;
  const bool grows = found->factor > wanted->factor;
  const double ratio = grows ? found->factor / wanted->factor : wanted->factor / found->factor;
  if (const auto power = power_of_ten(ratio)) {
    if (const auto exact = moved(printed.number, grows ? *power : -*power))
      return std::copysign(*exact, value);
  }
  return grows ? value * ratio : value / ratio;
}

}  // namespace sabath::collect

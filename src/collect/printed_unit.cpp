#include "printed_unit.hpp"

#include <sabath/collect/number_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace sabath::collect {
namespace {

enum class Kind { time, bytes, share };

struct Unit {
  std::string_view name;
  Kind kind;
  double factor;  ///< how many of the kind's smallest it is: whole, so that ratios are exact
};

constexpr double ps = 1e3;
constexpr double ns = 1e6;
constexpr double us = 1e9;
constexpr double ms = 1e12;
constexpr double s = 1e15;
constexpr double minute = 60 * s;
constexpr double hour = 60 * minute;
constexpr double day = 24 * hour;
constexpr double kib = 1024;

constexpr auto units = std::to_array<Unit>({
    {"fs", Kind::time, 1},
    {"ps", Kind::time, ps},
    {"ns", Kind::time, ns},
    {"nsec", Kind::time, ns},
    {"nanoseconds", Kind::time, ns},
    {"us", Kind::time, us},
    {"usec", Kind::time, us},
    {"microseconds", Kind::time, us},
    {"\xc2\xb5s", Kind::time, us},
    {"\xce\xbcs", Kind::time, us},
    {"ms", Kind::time, ms},
    {"msec", Kind::time, ms},
    {"msecs", Kind::time, ms},
    {"millisecond", Kind::time, ms},
    {"milliseconds", Kind::time, ms},
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
    {"d", Kind::time, day},
    {"day", Kind::time, day},
    {"days", Kind::time, day},
    {"B", Kind::bytes, 1},
    {"byte", Kind::bytes, 1},
    {"bytes", Kind::bytes, 1},
    {"kB", Kind::bytes, 1e3},
    {"KB", Kind::bytes, 1e3},
    {"MB", Kind::bytes, 1e6},
    {"GB", Kind::bytes, 1e9},
    {"TB", Kind::bytes, 1e12},
    {"PB", Kind::bytes, 1e15},
    {"EB", Kind::bytes, 1e18},
    {"KiB", Kind::bytes, kib},
    {"MiB", Kind::bytes, kib* kib},
    {"GiB", Kind::bytes, kib* kib* kib},
    {"TiB", Kind::bytes, kib* kib* kib* kib},
    {"PiB", Kind::bytes, kib* kib* kib* kib* kib},
    {"%", Kind::share, 1},
    {"percent", Kind::share, 1},
    {"1", Kind::share, 100},
});

/// The SI's (nist.gov/pml/special-publication-330) and IEC 80000-13's.
struct Prefix {
  std::string_view name;
  int tens = 0;
  int twos = 0;
};

constexpr auto prefixes = std::to_array<Prefix>({
    {"", 0, 0},          {"Ki", 0, 10},       {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40},
    {"Pi", 0, 50},       {"k", 3, 0},         {"K", 3, 0},   {"M", 6, 0},   {"G", 9, 0},
    {"T", 12, 0},        {"P", 15, 0},        {"E", 18, 0},  {"m", -3, 0},  {"u", -6, 0},
    {"\xc2\xb5", -6, 0}, {"\xce\xbc", -6, 0}, {"n", -9, 0},  {"p", -12, 0}, {"c", -2, 0},
    {"d", -1, 0},        {"h", 2, 0},
});

/// That a prefix is usual before, and that a word behind a number is known by.
constexpr std::array<std::string_view, 16> bases{
    "B", "bit", "Hz", "W", "Wh", "J", "eV", "V", "Pa", "FLOP", "OP", "OPS", "g", "m", "mol", "rad"};
/// Of those, what a prefix of less than a thousand is usual before: "db" is no tenth of a bit.
constexpr auto finely_prefixed = std::to_array<std::string_view>({"g", "m", "mol", "rad", "Pa"});

/// What "it/s" counts, where the metric's unit is "1/s".
constexpr auto counted = std::to_array<std::string_view>(
    {"it",       "its",    "iter",    "iters",    "iteration", "iterations", "step",
     "steps",    "sample", "samples", "img",      "imgs",      "image",      "images",
     "tok",      "token",  "tokens",  "batch",    "batches",   "example",    "examples",
     "item",     "items",  "event",   "events",   "epoch",     "epochs",     "frame",
     "frames",   "record", "records", "query",    "queries",   "req",        "request",
     "requests", "seq",    "seqs",    "sequence", "sequences", "inference",  "inferences",
     "op",       "ops",    "row",     "rows",     "cell",      "cells",      "point",
     "points"});

template <class Words>
bool is_among(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const Unit* unit_called(std::string_view name) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == name; });
  return found == units.end() || name.empty() ? nullptr : &*found;
}

const Unit* time_called(std::string_view name) {
  const Unit* unit = unit_called(name);
  return unit != nullptr && unit->kind == Kind::time ? unit : nullptr;
}

bool is_unit_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_unit_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%' || c == '/' || c == '^' ||
         static_cast<unsigned char>(c) >= 0x80;
}

struct Printed {
  std::string_view number{};  ///< without its sign
  std::string_view unit{};    ///< the word right behind it, or behind one blank
  std::string_view rest{};    ///< behind that
  bool is_attached = false;   ///< there is no blank between them
};

Printed printed_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const char* const end = text.data() + text.size();
  const char* at = text.data() + number_size(text);
  Printed printed;
  printed.number = text.substr(0, static_cast<std::size_t>(at - text.data()));
  if (printed.number.starts_with('+') || printed.number.starts_with('-'))
    printed.number.remove_prefix(1);
  printed.is_attached = at == end || *at != ' ';
  if (!printed.is_attached) ++at;
  const auto is_further = [](char c) { return is_unit_char(c) || is_unit_digit(c); };
  const char* stop = at == end || is_unit_digit(*at) ? at : std::find_if_not(at, end, is_further);
  // "12 h=3" is no time.
  const bool goes_on = stop != end && (*stop == '_' || *stop == '=');
  while (stop != at && stop[-1] == '/')
    --stop;
  printed.rest = {stop, static_cast<std::size_t>(end - stop)};
  if (!goes_on) printed.unit = {at, static_cast<std::size_t>(stop - at)};
  return printed;
}

/// "W" of "3 W: 4" and of "3 W 4" is the name of what follows.
bool is_key(const Printed& printed) {
  std::string_view rest = printed.rest;
  if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  const std::size_t word = rest.find_first_not_of(" \t");
  if (word == std::string_view::npos) return false;
  return rest[word] == ':' || rest[word] == '=' ||
         (word > 0 && number_size(rest.substr(word)) > 0 && !is_unit_char(rest[word]));
}

/// Of "5 min 30 s" the first part is not all of it.
bool is_part_of_time(const Printed& printed) {
  const Unit* unit = time_called(printed.unit == "m" ? "min" : printed.unit);
  if (unit == nullptr || !printed.rest.starts_with(' ')) return false;
  const std::size_t word = printed.rest.find_first_not_of(' ');
  if (word == std::string_view::npos || !is_unit_digit(printed.rest[word])) return false;
  const Unit* next = time_called(printed_of(printed.rest.substr(word)).unit);
  return next != nullptr && next->factor < unit->factor;
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

/// A unit is a count, or a count for each of something.
struct Parts {
  std::string_view count{};
  std::string_view per{};
};

Parts parts_of(std::string_view unit) {
  const std::size_t stroke = unit.find('/');
  if (stroke == std::string_view::npos) return {unit, {}};
  return {unit.substr(0, stroke), unit.substr(stroke + 1)};
}

/// Rates that are often written as one word: "GFLOPS", "Mbps".
std::string spelled(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> words{
      {{"FLOPS", "FLOP/s"}, {"bps", "bit/s"}, {"Bps", "B/s"}}};
  for (const auto& [word, rate] : words) {
    if (unit.ends_with(word) && unit.size() <= word.size() + 2)
      return std::string(unit.substr(0, unit.size() - word.size())) += rate;
  }
  return std::string(unit);
}

std::string_view usual_base(std::string_view base) {
  for (const std::string_view flop : {"flop", "flops", "Flop", "Flops", "FLOPs"}) {
    if (base == flop) return "FLOP";
  }
  if (base == "b" || base == "bits") return "bit";
  return base;
}

/// What one unit is of another: up / down * 10^tens.
struct Ratio {
  double up = 1;
  double down = 1;
  int tens = 0;
};

bool is_usual(const Prefix& prefix, std::string_view base) {
  const bool is_fine = prefix.tens != 0 && prefix.tens > -3 && prefix.tens < 3;
  return !is_fine || is_among(finely_prefixed, base);
}

/// "m^2", "m2": the prefix is raised with it.
bool is_raised(std::string_view base) {
  if (base.find('^') != std::string_view::npos) return true;
  for (const std::string_view end : {"2", "3", "\xc2\xb2", "\xc2\xb3"}) {
    if (base.ends_with(end) && is_among(bases, base.substr(0, base.size() - end.size())))
      return true;
  }
  return false;
}

/// Whether two words that differ in nothing but these are one unit with two prefixes: "modes" are
/// no thousandth of "odes".
bool is_prefixed(const Prefix& from, const Prefix& to, std::string_view base) {
  if (base.empty() || is_unit_digit(base.front()) || is_raised(base)) return false;
  if (!is_usual(from, base) || !is_usual(to, base)) return false;
  if (from.tens >= 0 && to.tens >= 0) return true;
  constexpr std::size_t longest_symbol = 2;
  const bool is_bare = from.name.empty() || to.name.empty();
  return is_among(bases, base) || (is_bare && base.size() <= longest_symbol);
}

std::optional<Ratio> ratio_of_counts(std::string_view from, std::string_view to) {
  if (from == to) return Ratio{};
  const Unit* known = unit_called(from);
  const Unit* wanted = unit_called(to);
  if (known != nullptr && wanted != nullptr && known->kind == wanted->kind)
    return Ratio{known->factor, wanted->factor, 0};
  if (known != nullptr || wanted != nullptr) return std::nullopt;
  for (const Prefix& has : prefixes) {
    if (!from.starts_with(has.name)) continue;
    const std::string_view base = usual_base(from.substr(has.name.size()));
    for (const Prefix& wants : prefixes) {
      if (!to.starts_with(wants.name) || base != usual_base(to.substr(wants.name.size()))) continue;
      if (is_prefixed(has, wants, base))
        return Ratio{std::ldexp(1, has.twos), std::ldexp(1, wants.twos), has.tens - wants.tens};
    }
  }
  return std::nullopt;
}

std::optional<Ratio> ratio_of(std::string_view from, std::string_view to) {
  const Parts has = parts_of(from);
  const Parts wants = parts_of(to);
  std::optional<Ratio> ratio = ratio_of_counts(has.count, wants.count);
  if (wants.count == "1" && !wants.per.empty() && is_among(counted, has.count)) ratio = Ratio{};
  if (!ratio || has.per == wants.per) return ratio;
  const Unit* time = time_called(has.per);
  const Unit* wanted_time = time_called(wants.per);
  if (time != nullptr && wanted_time != nullptr) {
    ratio->up *= wanted_time->factor;
    ratio->down *= time->factor;
    return ratio;
  }
  // "12ms/step" is a time, "3 GB/s" is no size and "5 s/100" no 5 s.
  const std::string_view per = has.per.empty() ? wants.per : has.per;
  const bool is_of_one = has.per.empty() || wants.per.empty();
  if (!is_of_one || time != nullptr || wanted_time != nullptr || is_unit_digit(per.front()))
    return std::nullopt;
  return ratio;
}

double scaled(double value, std::string_view number, const Ratio& ratio) {
  const bool grows = ratio.up >= ratio.down;
  const double factor = grows ? ratio.up / ratio.down : ratio.down / ratio.up;
  const auto power = power_of_ten(factor);
  const int tens = ratio.tens + (grows ? 1 : -1) * power.value_or(0);
  if (tens != 0) {
    const double scale = std::pow(10.0, std::abs(tens));
    const auto exact = moved(number, tens);
    value = exact ? std::copysign(*exact, value) : tens > 0 ? value * scale : value / scale;
  }
  if (power) return value;
  return grows ? value * factor : value / factor;
}

bool is_amount(std::string_view word) {
  if (unit_called(word) != nullptr) return true;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
    if (!word.starts_with(prefix.name)) return false;
    const std::string_view base = usual_base(word.substr(prefix.name.size()));
    // "g" and "m" alone may be anything.
    return is_usual(prefix, base) && is_among(bases, base) &&
           !(prefix.name.empty() && (base == "g" || base == "m"));
  });
}

/// Whether a word says by its look that it is a unit.
bool is_unit_word(std::string_view word) {
  const std::string text = spelled(word);
  const Parts parts = parts_of(text);
  if (is_amount(parts.count)) return true;
  return !parts.count.empty() && time_called(parts.per) != nullptr;
}

bool is_power(std::string_view word) {
  return is_among(std::array<std::string_view, 6>{"k", "K", "M", "G", "T", "P"}, word);
}

bool differs_by_prefix(std::string_view from, std::string_view to) {
  if (unit_called(from) != nullptr || unit_called(to) != nullptr) return false;
  for (const Prefix& has : prefixes) {
    if (!from.starts_with(has.name)) continue;
    const std::string_view base = usual_base(from.substr(has.name.size()));
    for (const Prefix& wants : prefixes) {
      if (!base.empty() && to.starts_with(wants.name) &&
          base == usual_base(to.substr(wants.name.size())))
        return true;
    }
  }
  return false;
}

/// "mm^2" of a metric in "m^2" and "g/cm^3" of one in "kg/m^3" are units, though not known ones.
bool is_like(const Parts& word, const Parts& unit) {
  if (word.per.empty() != unit.per.empty()) return false;
  if (word.count.empty()) return unit.count == "1";
  return word.count == unit.count || differs_by_prefix(word.count, unit.count);
}

/// Does what is printed behind the number say that it is another number than it looks, in a metric
/// of this unit?
bool is_other(const Printed& printed, std::string_view unit) {
  if (printed.is_attached) {
    const bool is_times = unit == "1" && (printed.unit == "x" || printed.unit == "X");
    return !is_times && !printed.unit.starts_with('/');
  }
  const Parts parts = parts_of(printed.unit);
  if (!parts.per.empty() && parts.per == parts_of(unit).per) return true;
  if (parts.per.empty() && is_key(printed)) return false;
  if (is_like(parts, parts_of(unit))) return true;
  if (printed.unit == "m" && time_called(parts_of(unit).count) != nullptr) return true;
  return is_unit_word(printed.unit) || (is_power(printed.unit) && printed.unit != "K");
}

}  // namespace

std::optional<double> in_unit(double value, std::string_view text, std::string_view unit) {
  const Printed printed = printed_of(text);
  if (unit.empty()) {
    const bool is_other_number = printed.is_attached && is_power(printed.unit);
    return is_other_number ? std::nullopt : std::optional(value);
  }
  if (printed.unit.empty()) return value;
  if (time_called(parts_of(unit).count) != nullptr && is_part_of_time(printed)) return std::nullopt;
  if (const auto ratio = ratio_of(spelled(printed.unit), spelled(unit)))
    return scaled(value, printed.number, *ratio);
  return is_other(printed, unit) ? std::nullopt : std::optional(value);
}

std::string_view known_unit(std::string_view text) {
  const Printed printed = printed_of(text);
  const bool is_name = !printed.is_attached && is_key(printed);
  return is_name || !is_unit_word(printed.unit) ? std::string_view() : printed.unit;
}

std::string_view with_unit(std::string_view text) {
  const Printed printed = printed_of(text);
  return text.substr(0, text.size() - printed.rest.size());
}

}  // namespace sabath::collect

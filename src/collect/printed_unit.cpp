#include "printed_unit.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/collect/number_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

namespace sabath::collect {
namespace {

enum class Kind { time, bytes, share };

/// All names of one unit.
struct Unit {
  std::string_view names;
  Kind kind;
  double factor;  ///< multiple of the smallest unit of its kind: whole, so that ratios are exact
};

constexpr double s = 1e15;
constexpr double minute = 60 * s;
constexpr double hour = 60 * minute;
constexpr double kib = 1024;

constexpr auto units = std::to_array<Unit>({
    {"fs", Kind::time, 1},
    {"ps", Kind::time, 1e3},
    {"ns nsec nanoseconds", Kind::time, 1e6},
    {"us usec microseconds \xc2\xb5s \xce\xbcs", Kind::time, 1e9},
    {"ms msec msecs millisecond milliseconds", Kind::time, 1e12},
    {"s sec secs second seconds", Kind::time, s},
    {"min mins minute minutes", Kind::time, minute},
    {"h hr hrs hour hours", Kind::time, hour},
    {"d day days", Kind::time, 24 * hour},
    {"B byte bytes", Kind::bytes, 1},
    {"kB KB", Kind::bytes, 1e3},
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
    {"% percent", Kind::share, 1},
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

/// Symbols that are known with a prefix.
constexpr std::string_view bases = "B bit Hz W Wh J eV V Pa FLOP OP OPS g m mol rad dB";
/// Those that also take c, d and h: "db" is not a tenth of a bit.
constexpr std::string_view finely_prefixed = "g m mol rad Pa";

/// Units that are not converted; all names of one stand together. "in" is left out: it is a word.
constexpr auto other_units = std::to_array<std::string_view>({
    "K kelvin Kelvin kelvins",
    "degC C celsius Celsius \xc2\xb0"
    "C \xe2\x84\x83",
    "degF F fahrenheit Fahrenheit \xc2\xb0"
    "F \xe2\x84\x89",
    "deg degs degree degrees \xc2\xb0",
    "arcmin",
    "arcsec",
    "bar bars",
    "mbar",
    "kbar",
    "atm",
    "Torr torr mmHg",
    "psi",
    "cal",
    "kcal Cal",
    "kcal/mol",
    "kJ/mol",
    "erg ergs",
    "Btu BTU",
    "Ha Hartree hartree",
    "Ry Rydberg rydberg",
    "N newton newtons",
    "kN",
    "lbf",
    "dyn",
    "A amp amps ampere amperes",
    "mA",
    "t ton tons tonne tonnes",
    "lb lbs pound pounds",
    "oz ounce ounces",
    "amu Da u",
    "ft foot feet",
    "inch inches",
    "yd yard yards",
    "mi mile miles",
    "nmi",
    "au AU",
    "ly",
    "pc parsec parsecs",
    "kpc",
    "Mpc",
    "\xc3\x85 \xe2\x84\xab angstrom Angstrom angstroms",
    "bohr Bohr",
    "knot knots kn kt kts",
    "mph",
    "kph km/h kmh",
    "l L liter liters litre litres",
    "ml mL",
    "gal gallon gallons",
    "hp",
    "rpm RPM",
    "ppm",
    "ppb",
    "ppt",
    "\xe2\x80\xb0 permille",
    "week weeks",
    "month months",
    "yr yrs year years",
});

/// What "it/s" counts, where the metric's unit is "1/s": steps of work, and data.
constexpr std::string_view counted_steps =
    "it its iter iters iteration iterations step steps batch batches epoch epochs query queries "
    "req request requests inference inferences op ops event events";
constexpr std::string_view counted_data =
    "sample samples img imgs image images tok token tokens example examples item items frame "
    "frames record records seq seqs sequence sequences row rows cell cells point points";

/// Whether `word` is one of `words`, which blanks separate.
bool is_among(std::string_view words, std::string_view word) {
  if (word.empty()) return false;
  for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

const Unit* unit_called(std::string_view name) {
  const auto found =
      std::ranges::find_if(units, [&](const Unit& one) { return is_among(one.names, name); });
  return found == units.end() ? nullptr : &*found;
}

bool is_other_unit(std::string_view word) {
  return std::ranges::any_of(other_units,
                             [&](std::string_view names) { return is_among(names, word); });
}

/// "degC" and "celsius"
bool are_names_of_one(std::string_view a, std::string_view b) {
  return a == b || std::ranges::any_of(other_units, [&](std::string_view names) {
           return is_among(names, a) && is_among(names, b);
         });
}

const Unit* time_called(std::string_view name) {
  const Unit* unit = unit_called(name);
  return unit != nullptr && unit->kind == Kind::time ? unit : nullptr;
}

bool is_unit_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_unit_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_unit_char(char c) {
  return is_unit_letter(c) || c == '%' || c == '/' || c == '^' ||
         static_cast<unsigned char>(c) >= 0x80;
}

struct Printed {
  std::string_view number{};  ///< without its sign
  std::string_view unit{};    ///< the word right behind it, or behind one blank
  std::string_view rest{};    ///< behind that
  bool is_attached = false;   ///< without a blank between them
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
  // "12 h=3" is not a time.
  const bool is_name = stop != end && (*stop == '_' || *stop == '=');
  while (stop != at && stop[-1] == '/')
    --stop;
  printed.rest = {stop, static_cast<std::size_t>(end - stop)};
  if (!is_name) printed.unit = {at, static_cast<std::size_t>(stop - at)};
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
  while (ratio >= 10) {
    ratio /= 10;
    ++power;
  }
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
    const auto exponent = base::leading_number<int>(digits);
    constexpr int most = 100'000;  // far beyond what any number has
    if (!exponent || *exponent > most || *exponent < -most) return std::nullopt;
    power += *exponent;
  }
  const std::string text = std::string(number.substr(0, mark)) + "e" + std::to_string(power);
  return base::leading_number<double>(text);
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
  if (is_among("flop flops Flop Flops FLOPs", base)) return "FLOP";
  return is_among("b bits", base) ? "bit" : base;
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

/// Whether two words with a common base are one unit with two prefixes: "modes" is not a thousandth
/// of "odes", and in "m^2" and "m2" the prefix is raised, too.
bool is_prefixed(const Prefix& from, const Prefix& to, std::string_view base) {
  if (base.find_first_of("0123456789^\xc2") != base.npos) return false;
  if (!is_usual(from, base) || !is_usual(to, base)) return false;
  if (from.tens >= 0 && to.tens >= 0) return true;
  constexpr std::size_t longest_symbol = 2;
  const bool is_bare = from.name.empty() || to.name.empty();
  return is_among(bases, base) || (is_bare && base.size() <= longest_symbol);
}

/// Whether `test` holds for the prefixes and the common base of two words that differ by a prefix.
template <class Test>
bool has_common_base(std::string_view from, std::string_view to, const Test& test) {
  for (const Prefix& has : prefixes) {
    if (!from.starts_with(has.name)) continue;
    const std::string_view base = usual_base(from.substr(has.name.size()));
    for (const Prefix& wants : prefixes) {
      if (!base.empty() && to.starts_with(wants.name) &&
          base == usual_base(to.substr(wants.name.size())) && test(has, wants, base))
        return true;
    }
  }
  return false;
}

std::optional<Ratio> ratio_of_counts(std::string_view from, std::string_view to) {
  if (are_names_of_one(from, to)) return Ratio{};
  const Unit* known = unit_called(from);
  const Unit* wanted = unit_called(to);
  if (known != nullptr && wanted != nullptr && known->kind == wanted->kind)
    return Ratio{known->factor, wanted->factor, 0};
  if (known != nullptr || wanted != nullptr) return std::nullopt;
  std::optional<Ratio> ratio;
  has_common_base(from, to, [&](const Prefix& has, const Prefix& wants, std::string_view base) {
    if (is_prefixed(has, wants, base))
      ratio = Ratio{std::ldexp(1, has.twos), std::ldexp(1, wants.twos), has.tens - wants.tens};
    return ratio.has_value();
  });
  return ratio;
}

std::optional<Ratio> ratio_of(std::string_view from, std::string_view to) {
  const Parts has = parts_of(from);
  const Parts wants = parts_of(to);
  std::optional<Ratio> ratio = ratio_of_counts(has.count, wants.count);
  if (wants.count == "1" && !wants.per.empty() &&
      (is_among(counted_steps, has.count) || is_among(counted_data, has.count)))
    ratio = Ratio{};
  if (!ratio || has.per == wants.per) return ratio;
  const Unit* time = time_called(has.per);
  const Unit* wanted_time = time_called(wants.per);
  if (time != nullptr && wanted_time != nullptr) {
    ratio->up *= wanted_time->factor;
    ratio->down *= time->factor;
    return ratio;
  }
  // "12ms/step" is a time, but "3 GB/s" is not a size and "5 s/100" not 5 s.
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
  return std::ranges::any_of(prefixes, [&](const Prefix& prefix) {
    if (!word.starts_with(prefix.name)) return false;
    const std::string_view base = usual_base(word.substr(prefix.name.size()));
    return is_usual(prefix, base) && is_among(bases, base);
  });
}

/// Whether a word is known as a unit, or as a rate.
bool is_unit_word(std::string_view word) {
  const std::string text = spelled(word);
  const Parts parts = parts_of(text);
  return is_amount(parts.count) || (!parts.count.empty() && time_called(parts.per) != nullptr);
}

bool is_power(std::string_view word) {
  return is_among("k K M G T P", word);
}

/// Right behind a number such a word makes a name or another number of it: "12ab", "1e5f", "5k".
bool is_unknown_word(std::string_view word) {
  return !word.empty() && is_unit_letter(word.front()) && word != "x" && word != "X" &&
         !is_unit_word(word);
}

/// "mm^2" and "g/cm^3" are units, though not known ones.
bool is_compound(std::string_view word) {
  const bool has_letter = std::ranges::any_of(word, is_unit_letter);
  return has_letter && word.find_first_of("0123456789/^") != word.npos;
}

/// Whether the word behind the number makes it another quantity than the metric's.
bool is_other(const Printed& printed, std::string_view unit) {
  if (printed.is_attached) return unit != "1" || (printed.unit != "x" && printed.unit != "X");
  if (is_key(printed)) return false;
  if (is_unit_word(printed.unit) || is_compound(printed.unit)) return true;
  if (is_power(printed.unit) || is_other_unit(printed.unit)) return true;
  return unit_called(unit) == nullptr &&
         has_common_base(
             printed.unit, unit, [](const auto&, const auto&, const auto&) { return true; });
}

}  // namespace

std::optional<double> in_unit(double value, std::string_view text, std::string_view unit) {
  const Printed printed = printed_of(text);
  if (unit.empty()) {
    return printed.is_attached && is_unknown_word(printed.unit) ? std::nullopt
                                                                : std::optional(value);
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
  const bool is_known = is_unit_word(printed.unit) || is_other_unit(printed.unit);
  return is_name || !is_known ? std::string_view() : printed.unit;
}

bool has_unknown_word(std::string_view text, std::string_view unit) {
  const Printed printed = printed_of(text);
  return !unit.empty() && unit != "1" && !printed.is_attached && !printed.unit.empty() &&
         printed.unit != unit && !is_key(printed) &&
         !ratio_of(spelled(printed.unit), spelled(unit));
}

std::string_view with_unit(std::string_view text) {
  const Printed printed = printed_of(text);
  return text.substr(0, text.size() - printed.rest.size());
}

}  // namespace sabath::collect

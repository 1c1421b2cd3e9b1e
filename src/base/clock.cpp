#include <sabath/base/clock.hpp>
#include <sabath/base/text/numbers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <thread>

namespace sabath::base {
namespace {

using std::chrono::duration_cast;

/// Reads exactly `digits` decimal digits at the front of `text` and removes them.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits || text.starts_with('-')) return std::nullopt;
  const auto value = number_in<int>(text.substr(0, digits));
  if (value) text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, std::string_view allowed) {
  if (text.empty() || allowed.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Nothing when there is a point without digits.
std::optional<std::chrono::nanoseconds> take_fraction(std::string_view& text) {
  if (!take_char(text, ".")) return std::chrono::nanoseconds(0);
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::int64_t value = 0;
  std::int64_t scale = 1'000'000'000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (scale > 1) {
      scale /= 10;
      value += (text.front() - '0') * scale;
    }
    text.remove_prefix(1);
  }
  return std::chrono::nanoseconds(value);
}

/// "Z" or "+hh:mm"; nothing when it is neither.
std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take_char(text, "Zz")) return std::chrono::minutes(0);
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hours = take_number(text, 2);
  if (!hours || !take_char(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return std::chrono::minutes(sign * (*hours * 60 + *minutes));
}

/// "hh:mm:ss" or "mm:ss".
std::optional<std::chrono::seconds> parse_clock_form(std::string_view text) {
  std::int64_t total = 0;
  int parts = 0;
  while (!text.empty() && parts < 3) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0 || value > 1'000'000) return std::nullopt;
    total = total * 60 + value;
    ++parts;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (!take_char(text, ":") || text.empty()) return std::nullopt;
  }
  if (!text.empty() || parts < 2) return std::nullopt;
  return std::chrono::seconds(total);
}

/// Slurm's "days-hours", "days-hours:minutes" and "days-hours:minutes:seconds" (sbatch(1)).
std::optional<std::chrono::seconds> parse_days_form(std::string_view text, std::size_t hyphen) {
  const auto days = number_in<std::int64_t>(text.substr(0, hyphen));
  if (!days || *days < 0 || *days > 1'000'000) return std::nullopt;
  std::string clock(text.substr(hyphen + 1));
  for (auto colons = std::count(clock.begin(), clock.end(), ':'); colons < 2; ++colons)
    clock += ":00";
  const auto rest = parse_clock_form(clock);
  return rest ? std::optional(std::chrono::days(*days) + *rest) : std::nullopt;
}

/// "7d"; the value is small enough for any unit.
std::optional<std::chrono::seconds> parse_unit_form(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > longest_duration.count()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit == "s") return std::chrono::seconds(value);
  if (unit == "m" || unit == "min") return std::chrono::minutes(value);
  if (unit == "h") return std::chrono::hours(value);
  if (unit == "d") return std::chrono::days(value);
  if (unit == "w") return std::chrono::weeks(value);
  return std::nullopt;
}

}  // namespace

WallTime SystemClock::now() const {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

SteadyTime SystemClock::steady() const {
  return std::chrono::steady_clock::now();
}

void SystemClock::sleep_for(std::chrono::nanoseconds duration) {
  std::this_thread::sleep_for(duration);
}

std::string format_rfc3339(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(duration_cast<std::chrono::milliseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()),
                     clock.hours().count(),
                     clock.minutes().count(),
                     clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  const auto year = take_number(text, 4);
  // 64 bits of nanoseconds reach from September 1677 to April 2262.
  if (!year || *year < 1678 || *year > 2261 || !take_char(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take_char(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || !take_char(text, "Tt ")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  const auto hour = take_number(text, 2);
  if (!date.ok() || !hour || *hour > 23 || !take_char(text, ":")) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take_char(text, ":")) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;
  const auto fraction = take_fraction(text);
  const auto offset = take_offset(text);
  if (!fraction || !offset || !text.empty()) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second) + *fraction - *offset;
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const std::int64_t minutes = whole / 60;
  if (minutes < 2880) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {:02} h", minutes / 1440, minutes / 60 % 24);
}

std::string seconds_text(double seconds) {
  constexpr double most_s = 9e9;  // 285 years
  if (!(std::abs(seconds) < most_s)) return fmt::format("{:.3g} s", seconds);
  if (seconds < 0) return "-" + seconds_text(-seconds);
  return format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  const std::size_t hyphen = text.find('-');
  const bool is_clock_form = text.find(':') != std::string_view::npos;
  const auto duration = hyphen != std::string_view::npos ? parse_days_form(text, hyphen)
                        : is_clock_form                  ? parse_clock_form(text)
                                                         : parse_unit_form(text);
  return duration && *duration <= longest_duration ? duration : std::nullopt;
}

}  // namespace sabath::base

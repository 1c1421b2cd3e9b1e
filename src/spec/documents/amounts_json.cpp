#include "amounts_json.hpp"

#include <sabath/base/clock.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace sabath::spec {
namespace {

struct SizeUnit {
  std::string_view word;
  double bytes;
};

constexpr std::array size_units{SizeUnit{"B", 1},
                                SizeUnit{"kB", 1e3},
                                SizeUnit{"MB", 1e6},
                                SizeUnit{"GB", 1e9},
                                SizeUnit{"TB", 1e12},
                                SizeUnit{"KiB", 0x1p10},
                                SizeUnit{"MiB", 0x1p20},
                                SizeUnit{"GiB", 0x1p30},
                                SizeUnit{"TiB", 0x1p40}};

/// "4 GiB", "1.5GB"; nothing when malformed, negative or beyond 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  std::string_view word(end, static_cast<std::size_t>(last - end));
  if (word.starts_with(' ')) word.remove_prefix(1);
  for (const SizeUnit& unit : size_units) {
    if (unit.word != word) continue;
    const double bytes = std::round(number * unit.bytes);
    if (bytes < 0x1p64) return static_cast<std::uint64_t>(bytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::seconds> read_length_of_time(base::JsonReader reader) {
  if (!reader.exists()) return std::nullopt;
  std::optional<std::chrono::seconds> limit;
  if (reader.is_string()) limit = base::parse_duration(reader.string());
  if (reader.is_integer()) limit = std::chrono::seconds(reader.integer());
  if (!limit || *limit <= std::chrono::seconds(0) || *limit > base::longest_duration) {
    const bool is_fraction = reader.is_number() && !reader.is_integer();
    reader.problem(
        base::canonical_json(reader.json()) +
            (is_fraction ? " is not a whole number of seconds" : " is not a length of time"),
        "a whole number of seconds above 0, or a text such as \"00:10:00\" or \"10m\"; at "
        "most 100 years");
    return std::nullopt;
  }
  return limit;
}

std::uint64_t read_size(base::JsonReader reader) {
  if (!reader.is_string()) return reader.unsigned_integer();
  const auto size = parse_size(reader.string());
  if (!size) {
    reader.problem("'" + reader.string() + "' is not a size",
                   "a number of bytes, or a text such as \"4 GiB\" or \"500 MB\"");
  }
  return size.value_or(0);
}

}  // namespace sabath::spec

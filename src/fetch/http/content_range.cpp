#include "content_range.hpp"

#include <charconv>
#include <limits>

namespace sabath::fetch {

namespace {

/// Takes the digits at the beginning of `text` away; nothing when there are none or too many.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value == std::numeric_limits<std::uint64_t>::max()) return {};
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view text) {
  ContentRange range;
  if (!take(text, "bytes ")) return {};
  if (take(text, "*/")) {
    range.total = take_number(text);
    range.unsatisfied = true;
    return range.total && text.empty() ? std::optional(range) : std::nullopt;
  }
  const auto first = take_number(text);
  if (!first || !take(text, "-")) return {};
  const auto last = take_number(text);
  if (!last || *last + 1 < *first || !take(text, "/")) return {};
  range.begin = *first;
  range.end = *last + 1;
  if (text == "*") return range;
  range.total = take_number(text);
  if (!range.total || !text.empty() || *range.total < range.end) return {};
  return range;
}

}  // namespace sabath::fetch

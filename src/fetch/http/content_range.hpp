#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sabath::fetch {

/// The value of a Content-Range header (RFC 9110, section 14.4), half open: [begin, end) of total.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> total{};  ///< nothing for "*"
  bool unsatisfied = false;              ///< "bytes */N": only the total is known

  bool operator==(const ContentRange&) const = default;
  std::uint64_t size() const { return end - begin; }
};

/// Nothing when `text` is malformed or contradicts itself. "bytes N-(N-1)/N", which some servers
/// send for a range that begins at the end, is read as an empty range.
std::optional<ContentRange> parse_content_range(std::string_view text);

}  // namespace sabath::fetch

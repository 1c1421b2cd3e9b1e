#pragma once

#include "coverage.hpp"

#include <sabath/base/partial_file.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sabath::fetch {

/// Length of the first range of a source with unknown speed.
constexpr std::uint64_t first_range_bytes = 4U << 20U;

/// Work of one connection.
struct InUse {
  base::ByteRange rest{};
  double rate = 0;  ///< bytes per second; 0: nothing came yet
  /// Too young to be called slow.
  bool is_fresh = false;
};

/// A connection that asks for work.
struct Applicant {
  double rate = 0;              ///< expected; 0: unknown
  double response_seconds = 0;  ///< from a request to its first byte
};

struct Assignment {
  base::ByteRange range{};
  /// Index of the connection that gives its end away: it stops where `range` begins.
  std::optional<std::size_t> from{};
};

/// Returns the next work, if any. Free bytes are given lowest first, so that the hash of the
/// contiguous beginning keeps up. Pieces are so long that the time between two requests hardly
/// counts. When all bytes are in use, the slowest connection gives a part of its rest away, in
/// proportion to both rates. A connection that needs more than half of the file's remaining time
/// does so earlier: its bytes are low, and the hash waits for them.
std::optional<Assignment> assign(const Coverage& there,
                                 std::uint64_t size_bytes,
                                 std::uint64_t piece_bytes,
                                 const std::vector<InUse>& in_use,
                                 const Applicant& applicant);

}  // namespace sabath::fetch

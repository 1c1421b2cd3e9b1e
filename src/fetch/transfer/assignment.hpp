#pragma once

#include "coverage.hpp"

#include <sabath/base/staged_file.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sabath::fetch {

/// What is asked first of a source of unknown speed.
constexpr std::uint64_t first_range_bytes = 4U << 20U;

/// What one connection is about to bring.
struct InUse {
  base::ByteRange rest{};
  double rate = 0;  ///< bytes per second; 0: nothing came yet
  /// Too young to say that it is slow.
  bool is_fresh = false;
};

/// A connection that asks for work.
struct Applicant {
  double rate = 0;              ///< that it is expected to have; 0: not known
  double response_seconds = 0;  ///< from a request to its first byte
};

struct Assignment {
  base::ByteRange range{};
  /// Which of those in use gives its end away: it must stop where `range` begins.
  std::optional<std::size_t> from{};
};

/// The next work, if there is any. What is neither there nor in use is given lowest first, so that
/// the hash of the contiguous beginning keeps up, and in pieces so long that the time between two
/// requests hardly counts. When all is in use, the connection that would need longest gives a part
/// of its rest away, in proportion to both rates; before, one that would need more than half of the
/// time that the whole file still needs: what it has is low and would keep the hash waiting.
std::optional<Assignment> assign(const Coverage& there,
                                 std::uint64_t size_bytes,
                                 std::uint64_t piece_bytes,
                                 const std::vector<InUse>& in_use,
                                 const Applicant& applicant);

}  // namespace sabath::fetch

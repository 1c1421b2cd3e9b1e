#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sabath::base {

/// Difference of two texts, line by line.
struct LineDiff {
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  std::string text{};   ///< unified: "@@ -1,3 +1,4 @@", then lines after ' ', '-' or '+'
  bool is_cut = false;  ///< `text` ends before the last change

  bool operator==(const LineDiff&) const = default;
};

/// Computes the shortest difference (E. Myers, Algorithmica 1, 1986), with three equal lines around
/// each change. With more than a thousand changes, all lines between the common beginning and end
/// count as changed. Marks a missing newline at the end. `text` has at most `most_lines` lines of
/// at most 400 bytes.
LineDiff line_diff(std::string_view a, std::string_view b, std::size_t most_lines);

}  // namespace sabath::base

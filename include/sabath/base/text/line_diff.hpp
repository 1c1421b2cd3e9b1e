#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sabath::base {

/// What it takes to make one text of another, line by line.
struct LineDiff {
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  std::string text{};   ///< unified: "@@ -1,3 +1,4 @@", then lines after ' ', '-' or '+'
  bool is_cut = false;  ///< `text` ends before the last change

  bool operator==(const LineDiff&) const = default;
};

/// The fewest lines (E. Myers, Algorithmica 1, 1986), with three equal ones around each change; of
/// texts with more than a thousand changes all between their common beginning and end. A line that
/// the text ends within is told. `text` has `most_lines` at most, of 400 bytes at most.
LineDiff line_diff(std::string_view a, std::string_view b, std::size_t most_lines);

}  // namespace sabath::base

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::app {

/// One row of a table that becomes a run.
struct ImportedRow {
  std::uint64_t number = 0;                               ///< from 1, of those below the header
  std::map<std::string, std::string> facets{};            ///< by column; missing cells are left out
  std::optional<std::uint64_t> seed{};                    ///< of a facet "seed"
  std::vector<std::pair<std::string, double>> metrics{};  ///< in order; likewise
  std::vector<std::string> doubts{};  ///< values that cannot be what they are said to be
};

/// Reads a table (separated by commas, semicolons or tabs; quoted fields; UTF-8 with or without a
/// byte order mark; LF or CRLF). A cell of a metric is a number, "nan" or "inf"; an empty one and
/// "NA" are missing, of facets too. Throws Error{usage} with up to ten problems at once. Problems
/// of the table: a missing or repeated column, a row of another width, and no rows. Problems of a
/// cell: no number (such as with a decimal comma), a whole number that a double changes, or a seed
/// that is not a whole number. A metric in `counts` is a share k/N of so many: other values are
/// doubts of their rows, within the printed digits and the rounding of a 32-bit float.
std::vector<ImportedRow> read_imported_rows(std::string_view text,
                                            const std::string& origin,
                                            const std::vector<std::string>& facets,
                                            const std::vector<std::string>& metrics,
                                            const std::map<std::string, std::uint64_t>& counts);

}  // namespace sabath::app

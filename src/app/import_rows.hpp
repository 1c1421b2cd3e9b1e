#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::app {

/// One row of a table that becomes a run.
struct ImportedRow {
  std::uint64_t number = 0;                               ///< from 1, of those below the header
  std::map<std::string, std::string> facets{};            ///< by column; an empty cell is left out
  std::vector<std::pair<std::string, double>> metrics{};  ///< in order; likewise
};

/// Reads a table (separated by commas, semicolons or tabs; quoted fields; UTF-8 with or without a
/// byte order mark; LF or CRLF). A cell of a metric is a number, "nan" or "inf"; an empty one and
/// "NA" are missing. Throws Error{usage} with all problems at once (ten are told): a column that
/// is not there, or twice; rows of another width; cells that are no number, such as one with a
/// decimal comma; no rows.
std::vector<ImportedRow> read_imported_rows(std::string_view text,
                                            const std::string& origin,
                                            const std::vector<std::string>& facets,
                                            const std::vector<std::string>& metrics);

}  // namespace sabath::app

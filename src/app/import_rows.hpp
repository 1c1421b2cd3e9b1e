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
};

/// Reads a table (separated by commas, semicolons or tabs; quoted fields; UTF-8 with or without a
/// byte order mark; LF or CRLF). A cell of a metric is a number, "nan" or "inf"; an empty one and
/// "NA" are missing, of facets too. Throws Error{usage} with all problems at once (ten are told): a
/// column that is not there, or twice; rows of another width; cells that are no number, such as one
/// with a decimal comma, or a whole one that a double would change; seeds that are no whole
/// numbers; no rows.
std::vector<ImportedRow> read_imported_rows(std::string_view text,
                                            const std::string& origin,
                                            const std::vector<std::string>& facets,
                                            const std::vector<std::string>& metrics);

}  // namespace sabath::app

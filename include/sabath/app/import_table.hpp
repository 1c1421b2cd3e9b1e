#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/catalog/catalog.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// What of a table becomes runs.
struct ImportRequest {
  std::string table{};                 ///< the file
  std::string recipe{};                ///< of the runs; it need not exist here
  std::vector<std::string> facets{};   ///< columns
  std::vector<std::string> metrics{};  ///< columns
  std::vector<std::string> tags{};
  /// Metrics that are shares k/N, with their N: other values are warned of.
  std::map<std::string, std::uint64_t> counts{};
};

struct ImportReport {
  std::string id{};  ///< follows from the bytes and the request
  std::uint64_t rows = 0;
  std::uint64_t imported = 0;
  std::uint64_t present = 0;  ///< of an earlier import of the same
  std::uint64_t missing = 0;  ///< cells of metrics without a value
  std::uint64_t doubts = 0;   ///< values that are not a share k/N of their count
};

/// Makes a run of each row: its record (state "imported", tags "imported" and "import:<id>", a
/// facet "imported" of the columns), whose metrics have one point each. Does not repeat runs that
/// an earlier import of the same bytes made, complete or not. Throws Error{usage} for an unreadable
/// table, before anything is written.
ImportReport import_table(const ImportRequest& request,
                          const catalog::Catalog& catalog,
                          const std::filesystem::path& runs,
                          base::Clock& clock,
                          base::Observer& observer,
                          const std::stop_token& stop);

}  // namespace sabath::app

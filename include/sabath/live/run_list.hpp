#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_count.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sabath::live {

struct RunListRequest {
  std::string selection{};             ///< empty: all runs
  std::vector<std::string> sort{};     ///< as Catalog::runs
  std::vector<std::string> columns{};  ///< keys of Catalog::column_of; none: those of `sort`
  std::size_t from = 0;                ///< so many are left out first
  std::size_t limit = 0;               ///< 0: all
  bool archived = false;               ///< only archived runs
};

/// Runs as `list runs` and the live view show them.
struct RunList {
  std::vector<catalog::RunRow> rows{};
  std::vector<std::string> reasons{};  ///< why each does not count; empty: it counts
  spec::RunCount count{};              ///< of all that match; without a selection of the rows
  std::vector<catalog::RunColumn> columns{};
  bool has_more = false;
};

/// Lists runs, newest first unless sorted. Throws as Catalog::runs and Catalog::column_of.
RunList list_runs(const RunListRequest& request,
                  const catalog::Catalog& catalog,
                  base::WallTime now);

/// The table of runs with the columns that the user names, else the usual ones. The column of
/// reasons is there only where some run has one.
std::string runs_text(const std::vector<catalog::RunRow>& rows,
                      const std::vector<std::string>& reasons,
                      const std::vector<catalog::RunColumn>& columns);

}  // namespace sabath::live

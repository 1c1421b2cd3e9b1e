#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/report/report.hpp>

#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

struct ReportRequest {
  std::string selection{};  ///< as it was asked for
  /// Keys as of compare_groups: a curve, a violin and a row of the heat map for each group.
  std::vector<std::string> by{};
  std::set<std::string> across{};  ///< as compare::Options::across
  std::string command{};           ///< that makes the report again
  NamedRuns named{};               ///< `by` and `across` are added to it
};

/// All that a report says of these runs, whatever state they are in: exactly two that count and can
/// be compared are, others are by groups. Numbers over several runs are of those that count. What
/// of a run cannot be read is told in the notes. Reads each record, series and samples once; of
/// points it keeps report::Course. Throws Error{usage} for a key that no run has.
report::Report report_runs(const std::vector<catalog::RunRow>& runs,
                           const ReportRequest& request,
                           const catalog::Catalog& catalog,
                           base::Clock& clock);

}  // namespace sabath::analysis

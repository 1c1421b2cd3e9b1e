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
  std::string selection{};  ///< as requested
  /// Keys as of compare_groups: a curve, a violin and a row of the heat map for each group.
  std::vector<std::string> by{};
  std::set<std::string> across{};  ///< as compare::Options::across
  std::string command{};           ///< that repeats the report
  NamedRuns named{};               ///< `by` and `across` are added to it
};

/// Collects the content of a report on runs in any state. Exactly two that count and are comparable
/// are compared; others are compared by groups. Numbers over several runs use those that count.
/// Notes list what cannot be read. Reads each record, series and samples once; keeps points as
/// report::Course. Throws Error{usage} for a key that no run has.
report::Report report_runs(const std::vector<catalog::RunRow>& runs,
                           const ReportRequest& request,
                           const catalog::Catalog& catalog,
                           base::Clock& clock);

}  // namespace sabath::analysis

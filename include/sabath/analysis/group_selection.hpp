#pragma once

#include <sabath/analysis/groups_request.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <string>
#include <vector>

namespace sabath::analysis {

/// Runs that count for this request (analysis/counted_runs.hpp).
std::vector<catalog::RunRow> runs_to_judge(const std::vector<catalog::RunRow>& runs,
                                           const GroupsRequest& request,
                                           const catalog::Catalog& catalog);

/// Compares groups of runs by the last values of their metrics (medians for performance). Runs
/// other than `runs_to_judge` are left out and listed. Runs with several definitions, different
/// data, or different parameters that affect the result are NOT-COMPARABLE, unless `by` or `across`
/// names these.
///
/// A rung is required where `require` is set, or where all runs have one known seed (the recipe's
/// rung, else tolerance). Other groups are compared within margins: those of the request, else of
/// the recipe, else of the baseline.
///
/// A parameter with the name of another key is "param.NAME".
///
/// Reads the catalog and one record of each recipe document. Reads all records only for an item of
/// a facet, and for a baseline. Throws Error{usage} for a key that no run has, and for a margin of
/// an unknown metric.
spec::GroupComparison compare_groups(const std::vector<catalog::RunRow>& runs,
                                     const GroupsRequest& request,
                                     const catalog::Catalog& catalog);

/// Values of the runs for a key of GroupsRequest::by; empty where a run has none. Throws
/// Error{usage}, which begins with `option`, for a key that no run has.
std::vector<std::string> levels_of(const std::vector<catalog::RunRow>& runs,
                                   const std::string& key,
                                   const catalog::Catalog& catalog,
                                   const std::string& option = "--by");

/// Levels as a table shows them: of a digest the first digits.
std::vector<std::string> shown_levels(std::vector<std::string> levels);

/// Compares two selections as the groups A and B, with all statistics and PERFORMANCE. One run
/// against several is compared with their prediction interval. Ignores `request.by`. With
/// `request.better` the result is whether B is better by that metric. Throws Error{usage} for a run
/// that is on both sides, and for a metric that cannot be better.
spec::GroupComparison compare_sides(const std::vector<catalog::RunRow>& a,
                                    const std::vector<catalog::RunRow>& b,
                                    const GroupsRequest& request,
                                    const catalog::Catalog& catalog);

}  // namespace sabath::analysis

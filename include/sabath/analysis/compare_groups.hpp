#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

/// How runs are grouped and judged.
struct GroupsRequest {
  /// A key of catalog::values_of, FACET.ITEM, or an item of the facet `launch`; none: one group.
  std::vector<std::string> by{};
  std::set<std::string> across{};  ///< as compare::Options::across; what is in `by` may differ too
  std::optional<spec::Rung> require{};
  spec::Tolerance tolerance{};
  /// Within which means count as equal, by the name of a metric ("loss" or "train/loss"), instead
  /// of the recipe's; that of "" of every metric that has none of its own.
  std::map<std::string, double> margins{};
  /// For metrics without a margin: that of the accepted entry of such runs, of 10 seeds or more.
  std::optional<spec::Baseline> baseline{};
  std::string baseline_file{};
  std::optional<compare::ReferenceSide> reference{};  ///< of two sides; else they are peers
  NamedRuns named{};                                  ///< `by` and `across` are added to it
};

/// The runs that count for this request (analysis/counted_runs.hpp).
std::vector<catalog::RunRow> runs_to_judge(const std::vector<catalog::RunRow>& runs,
                                           const GroupsRequest& request,
                                           const catalog::Catalog& catalog);

/// Groups of runs by the last values of their metrics (of those of performance the medians). Runs
/// other than `runs_to_judge` are left out, and told. Runs of several definitions, with different
/// data or different parameters that affect the result are NOT-COMPARABLE, unless `by` or `across`
/// has these. A rung is required where `require` says so, or where all runs are known to have one
/// seed (the recipe's, else tolerance); else the groups are held against the margins: those of the
/// request, else of the recipe, else of the baseline.
///
/// A parameter that is called like something else runs can be grouped by is "param.NAME".
///
/// Reads the catalog and one record of each recipe document; all records only for a facet's item,
/// and for a baseline. Throws Error{usage} for a key that no run has, and a margin of no metric.
spec::GroupComparison compare_groups(const std::vector<catalog::RunRow>& runs,
                                     const GroupsRequest& request,
                                     const catalog::Catalog& catalog);

/// What each run has for a key of GroupsRequest::by, empty where it has nothing. Throws
/// Error{usage} for a key that no run has.
std::vector<std::string> levels_of(const std::vector<catalog::RunRow>& runs,
                                   const std::string& key,
                                   const catalog::Catalog& catalog);

/// Two selections as the groups A and B: the same, with all statistics and PERFORMANCE. One run
/// against several is held against their prediction interval. `request.by` is not looked at. Throws
/// Error{usage} for a run that is on both sides.
spec::GroupComparison compare_sides(const std::vector<catalog::RunRow>& a,
                                    const std::vector<catalog::RunRow>& b,
                                    const GroupsRequest& request,
                                    const catalog::Catalog& catalog);

}  // namespace sabath::analysis

#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

struct RankRequest {
  spec::RankingRules rules{};
  std::string rules_file{};        ///< empty: the rules are options
  std::string margin_from{};       ///< who gave the margin of the rules
  std::set<std::string> across{};  ///< as compare::Options::across; keys of `by` may differ too
  NamedRuns named{};               ///< `by` and `across` are added to it
};

/// Ranks groups of the runs that count by the mean of a metric (compare::rank_groups). Repeats of a
/// seed count once, as their mean. Without `by` the parameters that vary make the groups.
///
/// Runs that differ from most runs in a key of `fixed` are left out. A group is excluded, with the
/// reason, if one of its runs has no finite value, misses the target, or if its seeds break the
/// rules.
///
/// Throws Error{usage} for runs that may not be compared (as compare_groups finds), for an unknown
/// key or metric, and for a metric without a direction.
spec::Ranking rank_runs(const std::vector<catalog::RunRow>& runs,
                        const RankRequest& request,
                        const catalog::Catalog& catalog);

/// Ranks a sweep for a report: runs in which a parameter varies that affects the result. With `by`,
/// one of its keys is such a parameter. Returns nothing for other runs, and for runs that cannot be
/// ranked.
std::optional<spec::Ranking> rank_sweep(const std::vector<catalog::RunRow>& runs,
                                        const RankRequest& request,
                                        const catalog::Catalog& catalog);

}  // namespace sabath::analysis

#pragma once

#include "comparable_runs.hpp"

#include <sabath/compare/compare_groups.hpp>

namespace sabath::analysis {

/// The values of metrics, once it is known that the runs may be compared. Repeats of a seed are one
/// sample, unless the groups are seeds or all runs have one.
compare::GroupsToCompare groups_of(const std::vector<catalog::RunRow>& runs,
                                   const CommonTerms& terms,
                                   const GroupsRequest& request,
                                   const catalog::Catalog& catalog,
                                   spec::GroupComparison& told);

/// The runs by their levels, in the order of these.
std::vector<spec::RunGroup> groups_by(const std::vector<compare::NamedFactor>& factors,
                                      std::size_t runs);

/// What is known of the runs before their values, in what was found of these.
void complete(spec::GroupComparison& comparison,
              const spec::GroupComparison& told,
              const CommonTerms& terms);

/// What else may explain a difference: it is not the same in all runs.
void tell_what_varies(const std::vector<catalog::RunRow>& runs,
                      const CommonTerms& terms,
                      const std::set<std::string>& by,
                      const catalog::Catalog& catalog,
                      spec::GroupComparison& comparison);

/// Last values are not all of a run: where all hold `rung`, each run that has more is compared as a
/// pair with the first, steps and outputs too, up to `most_whole_pairs`. The worst counts, of
/// `comparison` too; where not all could be, it is INCONCLUSIVE. Nothing for fewer than two groups.
void compare_whole_runs(const std::vector<catalog::RunRow>& runs,
                        const GroupsRequest& request,
                        spec::Rung rung,
                        spec::GroupComparison& comparison);

inline constexpr std::size_t most_whole_pairs = 100;

}  // namespace sabath::analysis

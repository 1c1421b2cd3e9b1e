#pragma once

#include "comparable_runs.hpp"

#include <sabath/compare/group_input.hpp>

namespace sabath::analysis {

/// Collects the values of metrics of runs that may be compared. Repeats of a seed are one sample,
/// unless the groups are seeds or all runs have one.
compare::GroupsToCompare groups_of(const std::vector<catalog::RunRow>& runs,
                                   const CommonTerms& terms,
                                   const GroupsRequest& request,
                                   const catalog::Catalog& catalog,
                                   spec::GroupComparison& partial);

/// Groups of runs by their levels, in order of the levels.
std::vector<spec::RunGroup> groups_by(const std::vector<compare::NamedFactor>& factors,
                                      std::size_t runs);

/// Adds to `comparison` what `partial` holds from before the values were compared.
void complete(spec::GroupComparison& comparison,
              const spec::GroupComparison& partial,
              const CommonTerms& terms);

/// Notes what else may explain a difference: it is not the same in all runs.
void note_what_varies(const std::vector<catalog::RunRow>& runs,
                      const CommonTerms& terms,
                      const std::set<std::string>& by,
                      const catalog::Catalog& catalog,
                      spec::GroupComparison& comparison);

/// Compares runs in full where all hold `rung` by their last values. Each run is compared as a pair
/// with the first, with steps and outputs, up to `most_full_pairs`. The worst verdict counts,
/// together with that of `comparison`. INCONCLUSIVE where not all could be compared. Does nothing
/// for fewer than two groups.
void compare_in_full(const std::vector<catalog::RunRow>& runs,
                     const GroupsRequest& request,
                     spec::Rung rung,
                     spec::GroupComparison& comparison);

inline constexpr std::size_t most_full_pairs = 100;

/// Sets the margins of judged metrics from the request or its baseline. Where the baseline has
/// none, `notes` say why. Throws Error{usage} for a name of no judged metric, and where one number
/// would apply to several units.
void set_requested_margins(const std::vector<catalog::RunRow>& runs,
                           const GroupsRequest& request,
                           const catalog::Catalog& catalog,
                           std::vector<compare::RunValues>& metrics,
                           std::vector<std::string>& notes);

}  // namespace sabath::analysis

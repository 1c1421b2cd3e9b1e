#pragma once

#include <sabath/compare/group_input.hpp>
#include <sabath/spec/group_comparison.hpp>

namespace sabath::compare {

/// Compares groups of runs. Fills in groups, metrics, classes and verdicts; the caller fills in the
/// rest (recipe, notes ...). The verdict of a metric follows from the first rule that applies.
///
/// 1. INCONCLUSIVE where the recipes contradict each other about it.
/// 2. Where a rung is required, PASS if the two values furthest apart hold it.
/// 3. PASS if all runs have one value, or each pair of groups is equivalent (TOST).
/// 4. FAIL if two groups that each have one value differ.
/// 5. FAIL if a pair is not equivalent and Welch's test finds a difference. Its p is adjusted
/// (Holm)
///    over all pairs of all judged metrics.
/// 6. Else INCONCLUSIVE: so too without a margin, with a single run, or for more than 200 groups.
///
/// A PASS becomes INCONCLUSIVE where a run has no finite value. A side of one sample is compared
/// with the prediction interval of the other side, its p adjusted (Holm) over the metrics.
///
/// The whole has the worst verdict of its judged metrics, and is INCONCLUSIVE for fewer than two
/// groups. Tables, classes and variances count runs; n of a test counts samples.
spec::GroupComparison compare_groups(const GroupsToCompare& request);

}  // namespace sabath::compare

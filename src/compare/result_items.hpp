#pragma once

#include "finding.hpp"
#include "tolerance.hpp"
#include "verdict.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/compare/comparison_input.hpp>
#include <sabath/spec/recipe.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sabath::compare {

/// Rules of both recipes for an output.
struct OutputRules {
  spec::OutputRule rule{};    ///< how to open it: as either recipe declares
  SaidTolerance tolerance{};  ///< A's, and B's where it differs
  std::string conflict{};     ///< how they contradict each other; else empty
};

/// `output` is "stage/path".
OutputRules rules_for(const Rules& rules, const std::string& output);

/// What each pair of series is compared by.
struct SeriesComparison {
  const Rules& rules;
  const spec::Tolerance& tolerance;  ///< overrides the recipe's
  std::function<std::size_t(const std::string&)> place_of_stage{};
};

/// Compares every series that is not of performance, by stage, then in the order of declaration.
/// Undeclared ones come last and are not judged.
std::vector<Finding> compare_each_series(const SeriesSoFar& a,
                                         const SeriesSoFar& b,
                                         const SeriesComparison& by);

/// Compares every metric that is not of performance, by stage, then in the order of declaration.
/// Undeclared ones come last and are not judged. A declared one without a number is named in
/// `not_evaluated`.
Findings compare_metrics(const PairToCompare& pair, const StageOrder& stages);

/// Compares every declared output that either record or either side has. Equal digests are equal to
/// the bit, unless the values are in a file that is not an output of both, or are all NaN. Other
/// files of arrays are compared array by array, or by trees of digests where the values are gone.
/// All other files differ in bytes. What is not available is named in `not_evaluated`.
Findings compare_outputs(const PairToCompare& pair, const StageOrder& stages);

/// Adds the churn of prediction arrays to their items: the share of predictions that differ in B
/// (M. Milani Fard et al., "Launch and iterate: reducing prediction churn", NIPS 2016). Labels are
/// compared directly. For scores the prediction is the index of the largest along the last axis,
/// the first of equals. NaN is larger than all, as in NumPy. Reads block by block. What cannot be
/// counted is named in `not_evaluated`.
void add_churn(const std::string& output,
               base::ArraySource& a,
               base::ArraySource& b,
               const spec::OutputRule& rule,
               Findings& findings);

/// Compares what is beyond its tolerance with the envelope of `options.envelope`. An item within it
/// gets that rung; else the first place outside is noted. What cannot be compared is undecided.
/// Does nothing without reruns. Throws Error{usage} for fewer than three reruns, and for reruns
/// that lack what their reference has.
void add_envelope(const PairToCompare& pair, Findings& metrics, Findings& outputs);

}  // namespace sabath::compare

#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/compare/comparison_input.hpp>
#include <sabath/compare/rules.hpp>
#include <sabath/spec/comparison.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// Compares two runs. Symmetric: compare_runs(b, a) gives the same with the sides exchanged. Throws
/// Error{integrity} when an output cannot be read.
spec::Comparison compare_runs(const Side& a,
                              const Side& b,
                              const Rules& rules,
                              const Options& options);

/// Names of metrics ("train/loss") that differ and are not judged, as the recipe does not declare
/// them. Sorted.
std::vector<std::string> undeclared_differences(const spec::Comparison& comparison);

/// "t/loss and t/grad differ and are not judged, since the recipe does not declare them"; `names`
/// is not empty. Names the first three.
std::string undeclared_text(const std::vector<std::string>& names);

/// Compares two files of arrays that belong to no run. Names of items are paths within the files.
/// The required rung is `require`, else tolerance. A missing tolerance is the default of the type.
/// Symmetric.
spec::Comparison compare_files(base::ArraySource& a,
                               base::ArraySource& b,
                               const std::optional<spec::Rung>& require,
                               const spec::Tolerance& tolerance);

}  // namespace sabath::compare

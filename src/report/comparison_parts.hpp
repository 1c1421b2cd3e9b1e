#pragma once

#include <sabath/spec/comparison.hpp>

#include <string>

namespace sabath::report {

/// Whether changes_text() describes this item, so that its digests need not be shown.
bool is_shown_in_words(const spec::Comparison& comparison, const spec::FacetDifference& difference);

/// Text for a terminal: differences of the environment, and the beginning of the diff of the code.
/// Ends with an empty line; empty without differences.
std::string changes_text(const spec::Comparison& comparison);

/// "code/train.sh: changed, 1 line added, 2 removed".
std::string code_title(const spec::CodeDifference& difference);

/// Table of PERFORMANCE, with the meaning of its ratio.
std::string performance_table(const std::vector<spec::PerformanceRow>& rows);

}  // namespace sabath::report

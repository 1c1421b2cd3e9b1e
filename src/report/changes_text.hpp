#pragma once

#include <sabath/spec/comparison.hpp>

#include <string>

namespace sabath::report {

/// Do words stand for this item, so that its digests need not be shown?
bool is_told_in_words(const spec::Comparison& comparison, const spec::FacetDifference& difference);

/// For a terminal: what differs in the environment, and the code's diff as far as it is short.
/// Ended by an empty line; empty where nothing of either differs.
std::string changes_text(const spec::Comparison& comparison);

/// "code/train.sh: changed, 1 line added, 2 removed".
std::string code_title(const spec::CodeDifference& difference);

}  // namespace sabath::report

#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <cstddef>
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

inline constexpr std::size_t most_groups = 40;  ///< rows of a table or heat map of a terminal
/// A level of a group, made printable and cut; "(none)" for an empty one.
std::string level_text(const std::string& level);
/// "... and 3 more groups (--json has them all)"; empty where all are shown.
std::string more_groups(std::size_t all);

// Cells and sentences of a ranking, for a terminal and for a report.

/// "1", or "3?" for a group that is not separated from the best.
std::string rank_place_text(const spec::RankedGroup& group);
std::string mean_interval_text(const spec::RankedGroup& group);
/// "+0.012 [0.01, 0.014]", from the best group; "-" for the best.
std::string distance_text(const spec::RankedGroup& group);
/// "tied: equal within 0.01 (5 pairs of seeds)".
std::string standing_text(const spec::RankedGroup& group);
/// "train/loss [1], lower is better; margin 0.01, by the recipe".
std::string ranked_by_text(const spec::Ranking& ranking);
/// "RANKED", "TIED", "UNDECIDED" or "NOTHING QUALIFIES".
std::string result_word(const spec::Ranking& ranking);

}  // namespace sabath::report

#pragma once

#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>

#include <string>
#include <vector>

namespace sabath::report {

/// Text for a terminal: the verdict with its shortest explanation, then what was judged.
std::string check_text(const spec::CheckReport& report);

/// Markdown for a comment on a pull request or the summary of a CI step: the verdict, the reason,
/// a table of metrics, and the reasons of all cases folded. External text is escaped, and neither
/// mentions nor links anything. At most 65,536 bytes, the limit of a comment at GitHub; a last line
/// says what was cut.
std::string check_markdown(const spec::CheckReport& report);

/// A badge as SVG: "reproducible" and the verdict with what judged it, "PASS, tolerance". No
/// scripts, fonts or addresses from elsewhere.
std::string badge_svg(const spec::CheckReport& report);

/// What judged the results: the weakest rung, "bounds" or "statistics"; "performance" where only
/// that was judged; empty where nothing was.
std::string judged_by(const spec::CheckReport& report);

/// JUnit XML as Jenkins and GitLab read it: a test suite for each group of runs, a test case for
/// each case. FAIL is a failure. NOT-COMPARABLE and a failed run are errors. INCONCLUSIVE and an
/// expected failure are skipped, with the reason. Where the verdict is not PASS and no case is a
/// failure or an error, a case "gate" is one. Characters that XML does not allow are made visible.
std::string junit_xml(const spec::CheckReport& report);

/// Distinct titles of the groups: "supercell, task infer, batch=8 at local, AMD EPYC 7763". Name
/// the parameters that differ between groups. Add the first digits of the digests of data and
/// definition where nothing else distinguishes them.
std::vector<std::string> group_titles(const spec::CheckReport& report);

/// "3 failed, 1 not comparable, 7 passed, 1 failed as expected"
std::string counts_text(const spec::CheckReport& report);

/// "0.25". For whole numbers that no double holds: all digits if they are equal, else a rounded
/// number.
std::string mean_text(const spec::BaselineMetric& metric);

/// Entries that count or are proposed. With `drift`: how the mean of each metric moved from one
/// acceptance to the next.
std::string baseline_text(const spec::Baseline& baseline, bool drift);

}  // namespace sabath::report

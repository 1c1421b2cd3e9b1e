#pragma once

#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>

#include <string>
#include <vector>

namespace sabath::report {

/// For a terminal: the verdict and its shortest explanation first, then what was judged.
std::string check_text(const spec::CheckReport& report);

/// The same for a pull request or the summary of a CI step. Text from outside is escaped.
std::string check_markdown(const spec::CheckReport& report);

/// JUnit XML as Jenkins and GitLab read it: a test suite for each group of runs, a test case for
/// each case. FAIL is a failure; NOT-COMPARABLE and a failed run are errors; INCONCLUSIVE and an
/// expected failure are skipped, and say so. Where the verdict is no PASS and none of the cases is
/// a failure or an error, a case "gate" is one. Characters that XML cannot have are made visible.
std::string junit_xml(const spec::CheckReport& report);

/// What the groups are called, each otherwise: "supercell, task infer, batch=8 at local, AMD EPYC
/// 7763". Of parameters those that differ between groups, of data and definition the digests' first
/// digits where nothing else tells them apart.
std::vector<std::string> group_titles(const spec::CheckReport& report);

/// "3 failed, 1 not comparable, 7 passed, 1 failed as expected"
std::string counts_text(const spec::CheckReport& report);

/// "0.25"; of whole numbers that no double holds all digits if they are one, else a rounded number.
std::string mean_text(const spec::BaselineMetric& metric);

/// Its entries that count, or are proposed; with `drift` how the mean of each metric moved from one
/// acceptance to the next.
std::string baseline_text(const spec::Baseline& baseline, bool drift);

}  // namespace sabath::report

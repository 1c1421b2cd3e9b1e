#pragma once

#include <sabath/report/shown_numbers.hpp>
#include <sabath/report/text_plot.hpp>
#include <sabath/spec/collection.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_usage.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::report {

/// Texts for a terminal, at most about 100 columns wide, ended by a newline. External text is made
/// printable. `courses` is a text that precedes the findings (difference_text).
std::string comparison_text(const spec::Comparison& comparison, const std::string& courses = {});
/// Text of a comparison of two files, which have neither facets nor performance.
std::string files_text(const spec::Comparison& comparison);
/// For each metric: the table of groups, the split of its variance, its classes, and a heat map of
/// groups by repeats. Shows the first forty groups. `statistics` adds the results of all tests of
/// two sides. If the question was whether B is better, shows the metric of that alone.
std::string groups_text(const spec::GroupComparison& comparison, bool statistics = false);
/// The groups in order with intervals and distances from the best, and what was excluded. Shows the
/// first forty groups.
std::string ranking_text(const spec::Ranking& ranking);
/// Hybrids that were made, their verdicts, and the cause.
std::string explanation_text(const spec::Explanation& explanation);
struct RecordView {
  bool libraries = false;  ///< list all that were loaded
  std::size_t columns = 100;
  /// By "stage/metric"; drawn beside the metric where space permits.
  std::map<std::string, Course> courses{};
  PlotLetters letters = PlotLetters::ascii;
  spec::WholeSummaries whole{};  ///< of its metrics
};
/// Description of a run, as for the appendix of a paper.
std::string record_text(const spec::RunRecord& record, const RecordView& view = {});
/// Why the command of a record does not repeat the run completely; empty where it does.
std::string why_not_again(const spec::RunRecord& record);

/// Lines for a terminal: "again: COMMAND". Where that does not repeat the run: why, and what does.
std::string again_text(const spec::RunRecord& record);

/// Metrics of a later collection, and other findings.
std::string collection_text(const spec::Collection& collection);
/// Summary at the end of a run: state, metrics, and the failure. `whole`: all digits of whole
/// numbers that no double holds.
std::string outcome_text(const spec::RunRecord& record, const spec::WholeSummaries& whole = {});
std::string host_text(const spec::HostFacts& facts);
/// One line: why times measured on this node may be disturbed; empty where it was quiet.
std::string noise_text(const spec::HostFacts& facts);
/// Methods to measure energy on a machine, and why others are missing: lines like those of
/// host_text.
std::string energy_methods_text(const std::vector<spec::EnergyReading>& available,
                                const std::vector<std::string>& missing);

}  // namespace sabath::report

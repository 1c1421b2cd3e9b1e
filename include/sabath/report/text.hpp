#pragma once

#include <sabath/report/text_plot.hpp>
#include <sabath/spec/collection.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::report {

/// For a terminal, at most about 100 columns, ended by a newline; text from outside is made
/// printable.
/// `courses` is a text to stand before what is found (difference_text).
std::string comparison_text(const spec::Comparison& comparison, const std::string& courses = {});
/// For each metric the table of groups, the split of its variance, its classes, and a heat map of
/// groups by repeats; of many groups the first forty. With `statistics` what all tests say of two
/// sides.
std::string groups_text(const spec::GroupComparison& comparison, bool statistics = false);
/// What was made, how it came out, and the cause.
std::string explanation_text(const spec::Explanation& explanation);
struct RecordView {
  bool libraries = false;  ///< list all that were loaded
  std::size_t columns = 100;
  /// By "stage/metric": drawn beside the metric where there is room.
  std::map<std::string, Course> courses{};
  PlotLetters letters = PlotLetters::ascii;
  spec::WholeSummaries whole{};  ///< of its metrics
};
/// What a run was, as a person would put it into a paper's appendix.
std::string record_text(const spec::RunRecord& record, const RecordView& view = {});
/// The metrics of a later collection, and what was found beside them.
std::string collection_text(const spec::Collection& collection);
/// A few lines when a run has ended: state, metrics, and where it went wrong.
/// `whole`: all digits of whole numbers that no double holds.
std::string outcome_text(const spec::RunRecord& record, const spec::WholeSummaries& whole = {});
std::string host_text(const spec::HostFacts& facts);
/// One line on why times that were measured on this node may not be its own; empty where it was
/// quiet.
std::string noise_text(const spec::HostFacts& facts);
/// How a machine can tell energy, and why not otherwise: lines as those of host_text.
std::string energy_methods_text(const std::vector<spec::EnergyReading>& available,
                                const std::vector<std::string>& missing);

/// The runs of a study, one in a line.
struct StudyTable {
  struct Row {
    std::vector<std::string> values{};  ///< of the parameters, in their order
    std::string seed{};
    std::string state{};  ///< empty: it had no run yet
    std::optional<double> wall_s{};
    std::vector<std::string> metrics{};  ///< in their order
    std::string run_id{};
  };
  std::vector<std::string> parameters{};  ///< those that vary
  std::vector<std::string> metrics{};
  std::vector<Row> rows{};
};
std::string study_text(const StudyTable& table);

/// 17 significant digits are for files; people get as many as tell values apart: "0.0123457",
/// "1.2e-09".
/// Whole numbers below 10^21 have all their digits.
std::string number_text(double value);

/// A distance in ULP; "-" where it has none, since a value is not finite.
std::string ulps_text(std::uint64_t ulps, double relative);

}  // namespace sabath::report

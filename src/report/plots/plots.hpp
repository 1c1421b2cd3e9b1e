#pragma once

#include <sabath/report/report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::report {

/// Colours that the page's style sheet has for curves; further ones begin again, dashed.
inline constexpr std::size_t curve_colours = 6;

/// In words: what the curves do from their beginning to their end.
std::string description_of(const Chart& chart);
/// Curves over steps or time: each run while there are few, else the median, the quartiles and the
/// extremes.
std::string line_plot(const Chart& chart, const std::string& id);

/// The values of one metric in groups.
struct Groups {
  struct Row {
    std::string label{};
    std::vector<std::optional<double>> values{};  ///< oldest run first; nothing: the run has it not
    std::vector<std::string> whole{};             ///< of each value, as ReportRun has it
  };
  std::string metric{};  ///< with its unit
  std::vector<Row> rows{};
};

inline constexpr std::size_t most_rows = 40;  ///< of groups in a plot; further ones are told
inline constexpr std::size_t most_cells = 60;

/// A row for each group: its values as points, their density from five values on, and n.
std::string violin_plot(const Groups& groups, const std::string& id);
std::string violin_description(const Groups& groups);
/// In letters: the runs of each group in their places between the extremes of all, counted.
std::string violin_text(const Groups& groups);

/// How many runs have something to compare.
struct Presence {
  std::size_t runs = 0;
  std::size_t finite = 0;  ///< runs with a finite value
  bool all() const { return finite > 1 && finite == runs; }
};
Presence presence_of(const Groups& groups);

/// Values with different bits, in order.
std::vector<double> classes_of(const Groups& groups);
/// How many values differ, with all digits of whole numbers that no double holds.
std::size_t count_distinct(const Groups& groups);
/// A row for each group, a cell for each of its runs; equal letters are equal bits.
std::string heat_map(const Groups& groups, const std::string& id);
std::string heat_description(const Groups& groups);
/// The same in letters; where there are too many classes for them, digits from 0 (lowest) to 9.
std::string heat_text(const Groups& groups);
inline constexpr std::size_t most_letters = 12;  ///< classes that have letters
/// Are the classes few enough for letters, and does each differ from the others as a double?
bool has_letters(const Groups& groups);

/// Stages from left to right, each behind those that it needs.
std::string stage_graph(const std::vector<ReportStage>& stages,
                        const std::string& recipe,
                        const std::string& id);
/// A line for each, further to the right than those that it needs.
std::string stage_lines(const std::vector<ReportStage>& stages);
/// "ok in 20, failed in 1; 1.25 s"
std::string stage_text(const ReportStage& stage);

}  // namespace sabath::report

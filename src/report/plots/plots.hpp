#pragma once

#include "drawing.hpp"

#include <sabath/base/text/exact_number.hpp>
#include <sabath/report/report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::report {

inline constexpr double plot_width = 960;

/// Number of colours for curves in the style sheet; further curves reuse them, dashed.
inline constexpr std::size_t curve_colours = 6;

std::string description_of(const Chart& chart);
/// Plots curves over steps or time: single runs if these are few, else median, quartiles and
/// extremes.
Drawing line_plot(const Chart& chart, const std::string& id);

/// Values of a metric over a parameter, in order of the parameter.
struct Scatter {
  std::string title{};
  std::string x{};
  std::string y{};
  std::vector<Point> points{};
};
std::string scatter_description(const Scatter& scatter);
/// Plots each run as a point, and the means as a line. An axis is logarithmic where its values span
/// two orders of magnitude.
Drawing scatter_plot(const Scatter& scatter, const std::string& id);

/// Values of one metric in groups.
struct Groups {
  struct Row {
    std::string label{};
    std::vector<std::optional<double>> values{};  ///< oldest run first; nothing: the run lacks it
    std::vector<std::string> whole{};             ///< by value, as in ReportRun
  };
  std::string metric{};  ///< with its unit
  std::vector<Row> rows{};
};

inline constexpr std::size_t most_rows = 40;  ///< groups in a plot; a note counts the others
inline constexpr std::size_t most_cells = 60;

/// Width of the labels in a plot of rows, within bounds.
double label_width(const Groups& groups);
/// The labels in a plot of letters, padded to one width.
struct PaddedLabels {
  std::vector<std::string> texts{};
  std::size_t width = 0;
};
PaddedLabels padded_labels(const Groups& groups);
std::vector<double> sorted_finite(const std::vector<std::optional<double>>& values);

/// Plots a row for each group: values as points, their density from five values on, and n.
Drawing violin_plot(const Groups& groups, const std::string& id);
std::string violin_description(const Groups& groups);
/// Plots in letters: counts of runs of each group between the extremes of all.
std::string violin_text(const Groups& groups);

/// Number of runs that can be compared.
struct Presence {
  std::size_t runs = 0;
  std::size_t finite = 0;  ///< runs with a finite value
  bool all() const { return finite > 1 && finite == runs; }
};
Presence presence_of(const Groups& groups);

/// Values with different bits, sorted.
std::vector<double> classes_of(const Groups& groups);
/// The number of run `i` of the row, which has a value: with the digits that no double holds.
base::ExactNumber exact_at(const Groups::Row& row, std::size_t i);

/// Number of distinct values, with all digits of whole numbers that no double holds.
std::size_t count_distinct(const Groups& groups);
/// Plots a row for each group with a cell for each run; equal letters are equal bits.
Drawing heat_map(const Groups& groups, const std::string& id);
std::string heat_description(const Groups& groups);
/// As above in letters; with too many classes digits from 0 (lowest) to 9.
std::string heat_text(const Groups& groups);
inline constexpr std::size_t most_letters = 12;  ///< classes that have letters
/// Whether the classes are few enough for letters, and differ from each other as doubles.
bool has_letters(const Groups& groups);

/// Plots stages from left to right, each behind those that it needs.
Drawing stage_graph(const std::vector<ReportStage>& stages,
                    const std::string& recipe,
                    const std::string& id);
/// One line a stage, indented behind the stages that it needs.
std::string stage_lines(const std::vector<ReportStage>& stages);
/// "ok in 20, failed in 1; 1.25 s"
std::string stage_text(const ReportStage& stage);

}  // namespace sabath::report

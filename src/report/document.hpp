#pragma once

#include "plots/plots.hpp"

#include <sabath/report/report.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sabath::report {

// Content of a report before it becomes HTML or Markdown. Nothing in it is escaped.

struct Table {
  /// What the cells of a column are: a name stays on one line, a sentence has a minimum width.
  enum class Cells { text, number, name, sentence };
  struct Column {
    /// ">n": a column of numbers with the title "n".
    Column(const char* column)
        : title(*column == '>' ? column + 1 : column),
          cells(*column == '>' ? Cells::number : Cells::text) {}
    Column(std::string column, Cells kind = Cells::text) : title(std::move(column)), cells(kind) {}

    std::string title{};
    Cells cells = Cells::text;
  };
  std::string caption{};
  std::vector<Column> columns{};
  std::vector<std::vector<std::string>> rows{};
  bool is_long = false;  ///< scrolls in an area of its own
};

inline constexpr std::size_t most_table_rows = 500;  ///< data formats have all rows

struct Figure {
  std::string title{};
  std::string description{};
  Drawing drawing{};
  std::string text{};  ///< plot of letters; empty: see the description
};

/// Lines for copying.
struct Listing {
  std::string caption{};
  std::vector<std::string> lines{};
};

using Block = std::variant<std::string, Table, Figure, Listing>;

struct Section {
  std::string id{};
  std::string title{};
  std::vector<Block> blocks{};
};

struct Document {
  std::string title{};
  std::string question{};  ///< compared groups and their medians; else empty
  std::string verdict{};   ///< "PASS", "IDENTICAL", "FAILED" ...
  std::string mood{};      ///< "good", "bad" or "open"
  std::string reason{};
  std::vector<std::pair<std::string, std::string>> facts{};
  std::vector<Section> sections{};
};

Document document_of(const Report& report);

// Sections. One without blocks is left out.
Section ranking_section(const Report& report);
Section results_section(const Report& report);
Section pair_section(const Report& report);
Section courses_section(const Report& report);
Section groups_section(const Report& report);
Section heat_section(const Report& report);
Section differences_section(const Report& report);
Section performance_section(const Report& report);
Section usage_section(const Report& report);
Section stages_section(const Report& report);
Section runs_section(const Report& report);
Section provenance_section(const Report& report);

/// Adds to the caption that of so many groups the first `most_rows` are shown.
void note_groups_left_out(Table& table, std::size_t groups);

/// "train/loss [1/s]"; a unit of "1" is none.
std::string title_of(const ReportMetric& metric);
/// title_of(); with ", median" for performance.
std::string heading_of(const ReportMetric& metric);
std::string short_name(const ReportRun& run);
/// Values of a metric by group or by host, of the runs that count.
enum class Rows { groups, hosts };
Groups groups_of(const Report& report, std::size_t metric, Rows rows);
/// Metrics of results that plots show: declared ones, else all.
std::vector<std::size_t> shown_metrics(const Report& report);
/// "0.5 (0.4 to 0.6)": the median, and the extremes where there are several.
std::string middle_text(std::vector<double> values);

// Formats of sabath: one file each, and a row in builtin_formats().
std::string write_html(const Report& report);
std::string write_markdown(const Report& report);
std::string write_csv(const Report& report);
std::string write_json(const Report& report);

}  // namespace sabath::report

#pragma once

#include "plots/plots.hpp"

#include <sabath/report/report.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sabath::report {

// What a report says to people, before it becomes HTML or Markdown. Nothing in it is escaped.

struct Table {
  struct Column {
    std::string title{};
    bool number = false;
    bool name = false;      ///< not broken into lines
    bool sentence = false;  ///< never so narrow that it becomes a tall column of words
  };
  std::string caption{};
  std::vector<Column> columns{};
  std::vector<std::vector<std::string>> rows{};
  bool is_long = false;  ///< and read by few: on a screen it has a place of its own to scroll in
};

inline constexpr std::size_t most_table_rows = 500;  ///< for people; data formats have all

struct Figure {
  std::string title{};
  std::string description{};
  std::string svg{};
  std::string text{};  ///< a plot of letters; empty where the description says all
};

/// Lines to be copied.
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
  std::string question{};  ///< what was compared by groups, and their medians; else empty
  std::string verdict{};   ///< "PASS", "IDENTICAL", "FAILED" ...
  std::string mood{};      ///< "good", "bad" or "open"
  std::string reason{};
  std::vector<std::pair<std::string, std::string>> facts{};
  std::vector<Section> sections{};
};

Document document_of(const Report& report);

// Its parts. A section without blocks is left out.
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

/// "train/loss [1/s]"; a unit of "1" is none.
std::string title_of(const ReportMetric& metric);
/// The same; of performance "..., median".
std::string heading_of(const ReportMetric& metric);
/// What tells a run from the others in few letters.
std::string short_name(const ReportRun& run);
/// The values of a metric by group, or by host, of the runs that count.
enum class Rows { groups, hosts };
Groups groups_of(const Report& report, std::size_t metric, Rows rows);
/// The metrics of results that plots show: those that are declared, else all.
std::vector<std::size_t> shown_metrics(const Report& report);
/// "0.5 (0.4 to 0.6)": the median, and the extremes where there are several.
std::string middle_text(std::vector<double> values);

}  // namespace sabath::report

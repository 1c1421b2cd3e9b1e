#include "document.hpp"
#include "escape.hpp"

#include <sabath/report/text_plot.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

constexpr std::size_t most_plots = 8;  ///< of one kind: violins, heat maps

std::string text_of(const Chart& chart) {
  constexpr std::size_t columns = 72;
  constexpr std::size_t rows = 9;
  std::string text;
  for (const Curve& curve : chart.curves) {
    if (curve.spread.size() < 2) continue;
    text += (text.empty() ? "" : "\n") + curve.name + " (* median, : lowest to highest)\n" +
            block_plot(curve.spread, chart.x, columns, rows);
  }
  return text;
}

Section charts_section(Section section, const std::vector<Chart>& charts) {
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const Chart& chart = charts[i];
    section.blocks.emplace_back(Figure{chart.title,
                                       description_of(chart),
                                       line_plot(chart, fmt::format("{}-{}", section.id, i)),
                                       text_of(chart)});
  }
  return section;
}

bool is_drawn_as_spread(const std::vector<Chart>& charts) {
  return std::ranges::any_of(charts, [](const Chart& chart) {
    return std::ranges::any_of(chart.curves,
                               [](const Curve& curve) { return curve.lines.empty(); });
  });
}

void note_more(Section& section, std::size_t metrics) {
  if (metrics <= most_plots) return;
  section.blocks.emplace_back(
      fmt::format("{} more metrics are in the tables.", metrics - most_plots));
}

/// Values of the heat map as a table, as colours are not accessible to all.
Table values_table(const Groups& groups, const std::string& rows) {
  Table table{"Values of the heat map of " + groups.metric, {{rows}, "values, oldest run first"}};
  table.is_long = true;
  for (std::size_t r = 0; r < std::min(groups.rows.size(), most_rows); ++r) {
    std::string values;
    const auto& row = groups.rows[r].values;
    const auto& whole = groups.rows[r].whole;
    for (std::size_t i = 0; i < std::min(row.size(), most_cells); ++i) {
      const bool is_whole = i < whole.size() && !whole[i].empty();
      const std::string number = row[i] && !is_whole ? exact_number(*row[i]) : "none";
      values += (i == 0 ? "" : ", ") + (is_whole ? whole[i] : number);
    }
    table.rows.push_back({groups.rows[r].label, std::move(values)});
  }
  return table;
}

std::string label_of(const Report& report) {
  return report.by.empty() ? "" : fmt::format(" by {}", fmt::join(report.by, ", "));
}

}  // namespace

Section courses_section(const Report& report) {
  Section section{"courses", "Course", {}};
  if (is_drawn_as_spread(report.courses)) {
    section.blocks.emplace_back(
        "The line is the median over the runs, the darker band the middle half of them, the "
        "lighter "
        "one reaches from the lowest to the highest point of any.");
  }
  return report.courses.empty() ? Section{} : charts_section(std::move(section), report.courses);
}

Section usage_section(const Report& report) {
  return charts_section({"usage", "Utilisation", {}}, report.usage);
}

Section groups_section(const Report& report) {
  Section section{"groups", "Distributions", {}};
  if (report.runs.size() < 2) return section;
  const std::vector<std::size_t> metrics = shown_metrics(report);
  for (std::size_t i = 0; i < std::min(metrics.size(), most_plots); ++i) {
    const Groups groups = groups_of(report, metrics[i], Rows::groups);
    Drawing drawing = violin_plot(groups, fmt::format("violin-{}", i));
    if (drawing.empty()) continue;
    section.blocks.emplace_back(Figure{groups.metric + label_of(report),
                                       violin_description(groups),
                                       std::move(drawing),
                                       violin_text(groups)});
  }
  if (!section.blocks.empty()) note_more(section, metrics.size());
  return section;
}

Section heat_section(const Report& report) {
  Section section{"heat", "Heat map", {}};
  if (report.runs.size() < 2) return section;
  const Rows rows = report.by.empty() ? Rows::hosts : Rows::groups;
  section.blocks.emplace_back(
      fmt::format("A row for each {}, a cell for each of its runs, the oldest to the left.",
                  rows == Rows::hosts ? "host" : "group"));
  const std::vector<std::size_t> metrics = shown_metrics(report);
  for (std::size_t i = 0; i < std::min(metrics.size(), most_plots); ++i) {
    const Groups groups = groups_of(report, metrics[i], rows);
    if (groups.rows.empty()) continue;
    section.blocks.emplace_back(
        Figure{groups.metric + (report.by.empty() ? " by host" : label_of(report)) + " and repeat",
               heat_description(groups),
               heat_map(groups, fmt::format("heat-{}", i)),
               heat_text(groups)});
    if (!has_letters(groups))
      section.blocks.emplace_back(values_table(groups, rows == Rows::hosts ? "host" : "group"));
  }
  if (section.blocks.size() == 1) return {};
  note_more(section, metrics.size());
  return section;
}

Section stages_section(const Report& report) {
  Section section{"stages", "Stages", {}};
  if (report.stages.empty()) return section;
  section.blocks.emplace_back(Figure{"Stages of " + report.stages_of,
                                     "Each stage stands behind those that it needs.",
                                     stage_graph(report.stages, report.stages_of, "stage-graph"),
                                     stage_lines(report.stages)});
  Table table{"Stages", {"stage", "needs", "states", ">time [s]"}};
  for (const ReportStage& stage : report.stages) {
    ReportStage untimed = stage;
    untimed.wall_s.clear();
    table.rows.push_back({stage.name,
                          fmt::format("{}", fmt::join(stage.needs, ", ")),
                          stage_text(untimed),
                          middle_text(stage.wall_s)});
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace sabath::report

#include "comparison_parts.hpp"
#include "document.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/report/shown_numbers.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

using spec::Ranking;

Table ranked_groups_table(const Ranking& ranking) {
  Table table{ranked_by_text(ranking), {"place"}};
  for (const std::string& by : ranking.by)
    table.columns.push_back({by});
  for (const char* title : {">n", ">mean", ">sd"})
    table.columns.push_back(title);
  table.columns.push_back({"95 % interval", Table::Cells::number});
  table.columns.push_back({"from the best", Table::Cells::number});
  table.columns.push_back({"is", Table::Cells::sentence});
  for (const spec::RankedGroup& group : ranking.groups) {
    std::vector<std::string> cells{rank_place_text(group)};
    cells.insert(cells.end(), group.levels.begin(), group.levels.end());
    cells.push_back(std::to_string(group.n));
    cells.push_back(number_text(group.mean));
    cells.push_back(group.sd ? number_text(*group.sd) : "");
    cells.push_back(mean_interval_text(group));
    cells.push_back(distance_text(group));
    cells.push_back(standing_text(group));
    table.rows.push_back(std::move(cells));
    if (table.rows.size() == most_rows) break;
  }
  note_groups_left_out(table, ranking.groups.size());
  return table;
}

Table excluded_groups_table(const Ranking& ranking) {
  Table table{"Groups that are not ranked", {"group", ">runs", {"reason", Table::Cells::sentence}}};
  for (const spec::ExcludedGroup& group : ranking.excluded) {
    table.rows.push_back(
        {spec::group_name(ranking.by, group.levels), std::to_string(group.runs), group.reason});
  }
  return table;
}

/// The column that is ranked.
std::optional<std::size_t> ranked_column(const Report& report) {
  const Ranking& ranking = *report.ranking;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    const ReportMetric& metric = report.metrics[i];
    if (metric.name == ranking.metric && metric.performance == ranking.performance) return i;
  }
  return std::nullopt;
}

const std::string* value_of(const ReportRun& run, const std::string& key) {
  constexpr std::string_view prefix = "param.";
  const auto found = run.parameters.find(key.starts_with(prefix) ? key.substr(prefix.size()) : key);
  return found == run.parameters.end() ? nullptr : &found->second;
}

/// The values of a metric over a parameter, of the runs that count. Nothing where the parameter is
/// not a number in each of them, or has one value.
std::optional<Scatter> scatter_of(const Report& report,
                                  std::size_t metric,
                                  const std::string& key) {
  Scatter scatter{heading_of(report.metrics[metric]) + " over " + key,
                  key,
                  heading_of(report.metrics[metric]),
                  {}};
  for (const ReportRun& run : report.runs) {
    const std::string* text = value_of(run, key);
    if (!run.counts() || text == nullptr) continue;
    const auto x = base::number_in<double>(*text);
    if (!x || !std::isfinite(*x)) return std::nullopt;
    const auto& y = run.values[metric];
    if (y && std::isfinite(*y)) scatter.points.push_back({*x, *y});
  }
  std::ranges::sort(scatter.points, {}, [](const Point& one) { return std::pair(one.x, one.y); });
  const bool varies = !scatter.points.empty() && scatter.points.front().x < scatter.points.back().x;
  return varies ? std::optional(std::move(scatter)) : std::nullopt;
}

/// Groups by one parameter, for a plot of letters.
Groups groups_over(const Report& report, std::size_t metric, const std::string& key) {
  Groups groups{heading_of(report.metrics[metric]), {}};
  std::map<std::vector<std::string>, Groups::Row, base::ValuesOrder> rows;
  for (const ReportRun& run : report.runs) {
    const std::string* text = value_of(run, key);
    if (!run.counts() || text == nullptr) continue;
    Groups::Row& row = rows[{*text}];
    row.label = spec::group_name({key}, {*text});
    row.values.push_back(run.values[metric]);
  }
  for (auto& [levels, row] : rows)
    groups.rows.push_back(std::move(row));
  return groups;
}

}  // namespace

Section ranking_section(const Report& report) {
  constexpr std::size_t most_plots = 8;
  Section section{"ranking", "Ranking", {}};
  if (!report.ranking) return section;
  const Ranking& ranking = *report.ranking;
  if (!ranking.groups.empty()) section.blocks.emplace_back(ranked_groups_table(ranking));
  if (!ranking.excluded.empty()) section.blocks.emplace_back(excluded_groups_table(ranking));
  for (const std::string& note : ranking.notes)
    section.blocks.emplace_back("Note: " + note + ".");
  const auto metric = ranked_column(report);
  std::size_t plots = 0;
  for (const std::string& key : ranking.by) {
    const auto scatter = metric ? scatter_of(report, *metric, key) : std::nullopt;
    if (!scatter || plots == most_plots) continue;
    section.blocks.emplace_back(
        Figure{scatter->title,
               scatter_description(*scatter),
               scatter_plot(*scatter, fmt::format("{}-{}", section.id, plots++)),
               violin_text(groups_over(report, *metric, key))});
  }
  return section;
}

}  // namespace sabath::report

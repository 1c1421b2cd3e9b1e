#include "document.hpp"
#include "escape.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::report {
namespace {

constexpr std::size_t side_by_side = 8;  ///< runs with a column each
constexpr std::size_t longest_value = 160;

std::string clipped(const std::string& text) {
  return plain_text(text, longest_value);
}

std::string value_text(const ReportItem& item, std::size_t run) {
  return item.of_run[run] ? clipped(spec::shown_text(item.values[*item.of_run[run]])) : "";
}

/// Runs whose items are compared: all of a few, else those that count.
std::vector<std::size_t> runs_of_items(const Report& report) {
  std::vector<std::size_t> runs;
  const bool all = report.runs.size() <= side_by_side || report.count.counted == 0;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    if (all || report.runs[i].counts()) runs.push_back(i);
  }
  return runs;
}

bool varies_in(const ReportItem& item, const std::vector<std::size_t>& runs) {
  ReportItem among{item.facet, item.item, {}, {}};
  std::set<std::size_t> values;
  for (const std::size_t run : runs) {
    among.of_run.push_back(item.of_run[run]);
    if (item.of_run[run] && values.insert(*item.of_run[run]).second)
      among.values.push_back(item.values[*item.of_run[run]]);
  }
  return among.varies();
}

/// "a (12), b (8), 3 more values", of these runs.
std::string values_text(const ReportItem& item, const std::vector<std::size_t>& runs) {
  constexpr std::size_t named = 5;
  std::vector<std::size_t> counts(item.values.size() + 1);
  for (const std::size_t run : runs)
    ++counts[item.of_run[run].value_or(item.values.size())];
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < item.values.size(); ++i) {
    if (counts[i] > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  const bool each_its_own = order.size() > 1 && counts[order.front()] == 1;
  std::string text = each_its_own ? fmt::format("{} different: ", order.size()) : "";
  for (std::size_t i = 0; i < std::min(order.size(), named); ++i) {
    text += (i == 0 ? "" : ", ") + clipped(item.values[order[i]]);
    if (!each_its_own) text += fmt::format(" ({})", counts[order[i]]);
  }
  if (order.size() > named) {
    text += each_its_own ? ", ..." : fmt::format(", {} more values", order.size() - named);
  }
  if (counts.back() > 0) text += fmt::format(", absent ({})", counts.back());
  return text;
}

/// The metric that is derived from the times of points, else one of the code's own, in seconds,
/// with one of these words in its name.
std::optional<std::size_t> time_per(const Report& report,
                                    std::string_view derived,
                                    std::initializer_list<std::string_view> words) {
  std::optional<std::size_t> own;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    const ReportMetric& metric = report.metrics[i];
    if (metric.name.ends_with("/" + std::string(derived))) return i;
    if (own || !metric.performance || metric.unit != "s") continue;
    const bool is_named = std::ranges::any_of(
        words, [&](std::string_view word) { return metric.name.find(word) != std::string::npos; });
    if (is_named) own = i;
  }
  return own;
}

constexpr const char* energy_title = "energy [J]";

struct Measure {
  std::string title{};
  std::vector<std::optional<double>> values{};  ///< of each run
  std::vector<std::string> whole{};             ///< as ReportRun has it; empty: of none

  std::string text(std::size_t run) const {
    if (!whole.empty() && !whole[run].empty()) return whole[run];
    return values[run] ? number_text(*values[run]) : "";
  }
};

Measure measure_of(const Report& report, std::size_t metric, const std::string& title) {
  Measure measure{title + (report.metrics[metric].performance ? ", median" : "")};
  for (const ReportRun& run : report.runs) {
    measure.values.push_back(run.values[metric]);
    measure.whole.push_back(run.whole.empty() ? std::string() : run.whole[metric]);
  }
  return measure;
}

std::vector<Measure> measures_of(const Report& report) {
  std::vector<Measure> measures{{"total [s]"}, {energy_title}};
  for (const ReportRun& run : report.runs) {
    measures[0].values.push_back(run.wall_s);
    measures[1].values.push_back(run.joules);
  }
  const auto add = [&](std::optional<std::size_t> metric, const std::string& title) {
    if (metric) measures.insert(measures.end() - 1, measure_of(report, *metric, title));
  };
  const auto add_time = [&](std::optional<std::size_t> metric, const std::string& title) {
    if (!metric) return;
    const std::string& name = report.metrics[*metric].name;
    add(metric, name.substr(0, name.find('/')) + ", " + title);
  };
  add_time(time_per(report, spec::seconds_per_epoch, {"epoch"}), "per epoch [s]");
  add_time(time_per(report, spec::seconds_per_step, {"iteration", "step"}), "per iteration [s]");
  if (const auto metric = final_metric(report.metrics)) {
    const ReportMetric& judged = report.metrics[*metric];
    add(metric, (judged.judge ? "" : "final ") + title_of(judged));
  }
  std::erase_if(measures, [](const Measure& measure) {
    return std::ranges::none_of(measure.values, [](const auto& one) { return one.has_value(); });
  });
  return measures;
}

std::vector<double> finite_of(const Measure& measure, const std::vector<std::size_t>& runs) {
  std::vector<std::optional<double>> values;
  for (const std::size_t run : runs)
    values.push_back(measure.values[run]);
  return sorted_finite(values);
}

/// Whether energies are of one kind: those of a GPU and of a node have no common median.
bool has_one_energy(const Report& report) {
  std::set<std::string> kinds;
  for (const ReportRun& run : report.runs) {
    if (run.counts() && run.joules) kinds.insert(run.energy);
  }
  return kinds.size() <= 1;
}

/// Runs that count, by their levels.
using GroupedRuns = std::map<std::vector<std::string>, std::vector<std::size_t>, base::ValuesOrder>;

GroupedRuns counted_by_group(const Report& report) {
  GroupedRuns groups;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    if (report.runs[i].counts()) groups[report.runs[i].levels].push_back(i);
  }
  return groups;
}

Table measures_table(const Report& report, std::vector<Measure> measures) {
  if (!has_one_energy(report))
    std::erase_if(measures, [](const Measure& measure) { return measure.title == energy_title; });
  Table table{"Time and energy; medians, with the extremes, over the runs that count",
              {"group", ">n"}};
  for (const Measure& measure : measures)
    table.columns.push_back({measure.title, Table::Cells::number});
  const GroupedRuns groups = counted_by_group(report);
  for (const auto& [levels, runs] : groups) {
    std::vector<std::string> cells{spec::group_name(report.by, levels),
                                   std::to_string(runs.size())};
    for (const Measure& measure : measures)
      cells.push_back(middle_text(finite_of(measure, runs)));
    table.rows.push_back(std::move(cells));
    if (table.rows.size() == most_rows) break;
  }
  note_groups_left_out(table, groups.size());
  return table;
}

Table performance_metrics(const Report& report) {
  Table table{"Metrics of performance: of each run the median after the warm-up",
              {"metric", ">n", ">median (min to max)"}};
  const bool is_grouped = !report.by.empty();
  if (is_grouped) table.columns.insert(table.columns.begin() + 1, "group");
  const GroupedRuns groups = counted_by_group(report);
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    if (!report.metrics[m].performance) continue;
    const Measure measure = measure_of(report, m, title_of(report.metrics[m]));
    std::size_t shown = 0;
    for (const auto& [levels, runs] : groups) {
      std::vector<double> values = finite_of(measure, runs);
      if (values.empty() || ++shown > most_rows) continue;
      const std::string count = std::to_string(values.size());
      std::vector<std::string> cells{
          title_of(report.metrics[m]), count, middle_text(std::move(values))};
      if (is_grouped) cells.insert(cells.begin() + 1, spec::group_name(report.by, levels));
      table.rows.push_back(std::move(cells));
    }
  }
  note_groups_left_out(table, groups.size());
  return table;
}

std::string energy_methods(const Report& report) {
  std::map<std::string, std::size_t> methods;
  for (const ReportRun& run : report.runs) {
    if (run.counts() && !run.energy.empty()) ++methods[run.energy];
  }
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [method, runs] : methods) {
    if (++shown > most) break;
    text += (text.empty() ? "" : "; ") + method;
    if (report.count.counted > 1) text += " (" + base::counted(runs, "run") + ")";
  }
  if (methods.size() > most) text += fmt::format("; {} more", methods.size() - most);
  if (!has_one_energy(report)) text += "; counted in several ways, it has no median";
  return text.empty() ? "" : "Energy: " + text + ".";
}

std::vector<std::string> varying_parameters(const Report& report) {
  std::map<std::string, std::set<std::string>> values;
  for (const ReportRun& run : report.runs) {
    for (const auto& [name, value] : run.parameters)
      values[name].insert(value);
  }
  std::vector<std::string> names;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1) names.push_back(name);
  }
  return names;
}

Table items_table(const Report& report, const std::string& caption, bool libraries) {
  Table table{caption, {"facet", "item", "value"}};
  table.is_long = libraries;
  const std::vector<std::size_t> runs = runs_of_items(report);
  for (const ReportItem& item : report.items) {
    const bool is_loaded = item.facet == "libraries" || item.facet == "packages";
    if (is_loaded != libraries || varies_in(item, runs)) continue;
    const auto has_it =
        std::ranges::find_if(runs, [&](std::size_t run) { return item.of_run[run].has_value(); });
    if (has_it != runs.end())
      table.rows.push_back({item.facet, item.item, value_text(item, *has_it)});
  }
  return table;
}

void add_commands(Section& section, const Report& report) {
  section.blocks.emplace_back(Listing{"This report again", {report.command}});
  constexpr std::size_t most = 50;
  Listing listing{"Each run again", {}};
  for (const ReportRun& run : report.runs) {
    if (listing.lines.size() == most) break;
    if (!run.reproduce.empty()) listing.lines.push_back(run.reproduce);
  }
  if (listing.lines.empty()) return;
  if (report.runs.size() > most)
    listing.caption += fmt::format(" (the first {}; the JSON report has all)", most);
  section.blocks.emplace_back(std::move(listing));
}

}  // namespace

Section differences_section(const Report& report) {
  Section section{"differences", "What differs", {}};
  if (report.runs.size() < 2) return section;
  const bool beside = report.runs.size() <= side_by_side;
  const std::vector<std::size_t> runs = runs_of_items(report);
  Table table{beside
                  ? "Items of facets in which the runs differ, side by side"
                  : "Items of facets in which the runs that count differ, with the number of runs",
              {"facet", "item"}};
  if (beside) {
    for (const ReportRun& run : report.runs)
      table.columns.push_back({short_name(run)});
  } else {
    table.columns.push_back("values");
  }
  for (const ReportItem& item : report.items) {
    if (!varies_in(item, runs)) continue;
    std::vector<std::string> cells{item.facet, item.item};
    if (!beside) cells.push_back(values_text(item, runs));
    for (std::size_t run = 0; beside && run < report.runs.size(); ++run)
      cells.push_back(value_text(item, run));
    table.rows.push_back(std::move(cells));
  }
  if (table.rows.empty()) {
    section.blocks.emplace_back("Nothing that the records know differs between the runs.");
  } else {
    section.blocks.emplace_back(std::move(table));
  }
  return section;
}

Section performance_section(const Report& report) {
  Section section{"performance", "Performance", {}};
  Table table = measures_table(report, measures_of(report));
  if (!table.rows.empty() && table.columns.size() > 2)
    section.blocks.emplace_back(std::move(table));
  Table metrics = performance_metrics(report);
  if (!metrics.rows.empty()) section.blocks.emplace_back(std::move(metrics));
  if (std::string energy = energy_methods(report); !energy.empty())
    section.blocks.emplace_back(std::move(energy));
  return section;
}

Section runs_section(const Report& report) {
  Section section{"runs", "Runs", {}};
  const std::vector<std::string> parameters = varying_parameters(report);
  const std::vector<Measure> measures = measures_of(report);
  const bool has_message =
      std::ranges::any_of(report.runs, [](const auto& run) { return !run.message.empty(); });
  const bool all_count = report.count.counted == report.count.all;
  Table table{"All runs, oldest first: " + spec::count_text(report.count),
              {{"run", Table::Cells::name},
               "state",
               "counts",
               {"started", Table::Cells::name},
               "host",
               ">seed"}};
  for (const std::string& by : report.by)
    table.columns.push_back({by});
  for (const std::string& name : parameters)
    table.columns.push_back({name});
  for (const Measure& measure : measures)
    table.columns.push_back({measure.title, Table::Cells::number});
  if (has_message) table.columns.push_back({"message", Table::Cells::sentence});
  for (std::size_t i = 0; i < std::min(report.runs.size(), most_table_rows); ++i) {
    const ReportRun& run = report.runs[i];
    const std::string counts = all_count ? "" : run.counts() ? "yes" : "no: " + run.left_out;
    std::vector<std::string> cells{run.id, run.state, counts, run.started, run.host, run.seed};
    cells.insert(cells.end(), run.levels.begin(), run.levels.end());
    for (const std::string& name : parameters) {
      const auto found = run.parameters.find(name);
      const bool is_there = found != run.parameters.end();
      // An empty field of a table means that the value is missing.
      const bool has_value = is_there && (run.state != "imported" || !found->second.empty());
      cells.push_back(has_value ? spec::shown_text(found->second) : "");
    }
    for (const Measure& measure : measures)
      cells.push_back(measure.text(i));
    if (has_message) cells.push_back(clipped(run.message));
    table.rows.push_back(std::move(cells));
  }
  if (report.runs.size() > most_table_rows) {
    table.caption += fmt::format(
        ", the first {} of {}; the CSV report has all", most_table_rows, report.runs.size());
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section provenance_section(const Report& report) {
  Section section{"provenance", "Provenance", {}};
  add_commands(section, report);
  std::map<std::string, std::size_t> codes;
  for (const ReportRun& run : report.runs) {
    if (!run.code.empty()) ++codes[run.code];
  }
  constexpr std::size_t most_codes = 20;
  std::size_t shown = 0;
  for (const auto& [code, runs] : codes) {
    if (++shown > most_codes) break;
    section.blocks.emplace_back("Code of " + base::counted(runs, "run") + ": " + code);
  }
  if (codes.size() > most_codes) {
    section.blocks.emplace_back(fmt::format("{} more states of the code are in the JSON report.",
                                            codes.size() - most_codes));
  }
  Table shared = items_table(
      report,
      report.runs.size() == 1 ? "What the run was made with" : "What is the same in all runs",
      false);
  if (!shared.rows.empty()) section.blocks.emplace_back(std::move(shared));
  Table libraries = items_table(report, "Libraries that were loaded", true);
  if (!libraries.rows.empty()) section.blocks.emplace_back(std::move(libraries));
  return section;
}

}  // namespace sabath::report

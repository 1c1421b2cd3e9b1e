#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/statistical_power.hpp>
#include <sabath/live/dry_run_text.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/report/shown_numbers.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::live {
namespace {

constexpr std::size_t most_lines = 60;

std::string quantity_text(double value, const std::string& unit) {
  return report::number_text(value) + (unit.empty() || unit == "1" ? "" : " " + unit);
}

std::string metric_text(const analysis::MetricPower& metric) {
  const std::string name = (metric.stage.empty() ? "" : metric.stage + "/") + metric.metric;
  const std::string margin = name + " within " + quantity_text(metric.margin, metric.unit);
  if (!metric.deviation)
    return "  " + margin + ": the spread between seeds is unknown; it needs two earlier runs\n";
  return fmt::format("  {}: {:.0f} % (sd {}, of {} runs)\n",
                     margin,
                     100 * metric.power.value_or(0),
                     quantity_text(*metric.deviation, metric.unit),
                     metric.runs);
}

}  // namespace

std::string seeds_text(const std::vector<spec::StudyPoint>& points) {
  const auto& first = points.front().seed;
  const bool same =
      std::ranges::all_of(points, [&](const auto& point) { return point.seed == first; });
  if (!same) return "";
  return "  seed = " + (first ? std::to_string(*first) : std::string("drawn for each run")) + "\n";
}

std::string points_text(const std::vector<spec::StudyPoint>& points) {
  std::vector<base::TextTable::Column> columns{">run"};
  const std::vector<std::string> varied = planning::varied_parameters(points);
  for (const std::string& name : varied)
    columns.push_back({name, base::Align::right});
  columns.insert(columns.end(), {">seed", ">repetition"});
  base::TextTable table(columns);
  for (std::size_t i = 0; i < std::min(points.size(), most_lines); ++i) {
    std::vector<std::string> cells{std::to_string(i + 1)};
    for (const std::string& name : varied)
      cells.push_back(points[i].set.at(name));
    cells.push_back(points[i].seed ? std::to_string(*points[i].seed) : "drawn");
    cells.push_back(std::to_string(points[i].repetition));
    table.add(std::move(cells));
  }
  std::string text = table.text();
  if (points.size() > most_lines) {
    text += "... and " + std::to_string(points.size() - most_lines) + " more; --json has all\n";
  }
  return text;
}

std::string power_text(const analysis::StudyPower& power) {
  std::string text = fmt::format("{} run(s) of each setting", power.runs);
  if (power.seeds < 2) {
    return text + (power.runs < 2
                       ? ": the spread between runs is not measured; use --seeds or --repeat\n"
                       : " with one seed: repeatability is measured, the spread between seeds is "
                         "not; use --seeds\n");
  }
  if (power.seeds < power.runs) text += fmt::format(", of {} seeds", power.seeds);
  text += "; the chance to show that two equal settings agree (TOST, 5 %):\n";
  const bool is_known = !power.metrics.empty() &&
                        std::ranges::all_of(power.metrics, [](const analysis::MetricPower& metric) {
                          return metric.deviation.has_value();
                        });
  for (const double margin : {1.0, 1.5, 2.0, 3.0}) {
    if (is_known) break;
    text += fmt::format("  within {:>3} sd: {:.0f} %\n",
                        margin,
                        100 * compare::equivalence_power(static_cast<int>(power.seeds), margin));
  }
  for (const analysis::MetricPower& metric : power.metrics)
    text += metric_text(metric);
  return text;
}

std::string short_power_text(const analysis::StudyPower& power) {
  if (power.seeds < 2) {
    return fmt::format(
        "{} run(s) of each setting and no two seeds: the spread between seeds is not "
        "measured",
        power.runs);
  }
  const std::string with = fmt::format(
      "with {} seeds per setting, the chance to show that two equal settings agree", power.seeds);
  std::string known;
  for (const analysis::MetricPower& metric : power.metrics) {
    if (!metric.power) continue;
    known += fmt::format("{} in {} within {} is {:.0f} %",
                         known.empty() ? "" : ",",
                         metric.metric,
                         quantity_text(metric.margin, metric.unit),
                         100 * *metric.power);
  }
  if (!known.empty()) return with + known;
  const auto percent = [&](double margin) {
    return 100 * compare::equivalence_power(static_cast<int>(power.seeds), margin);
  };
  return with + fmt::format(" within 1, 2 or 3 sd is {:.0f}, {:.0f} or {:.0f} %",
                            percent(1),
                            percent(2),
                            percent(3));
}

std::string jobs_text(const std::vector<spec::BatchStep>& steps, const spec::Site& site) {
  std::string text;
  int number = 0;
  for (const spec::BatchStep& step : steps) {
    const spec::Resources& wants = step.resources;
    std::vector<std::string> parts{
        fmt::format("{} node(s)", wants.nodes.value_or(1)),
        fmt::format("{} task(s)", wants.tasks.value_or(1)) +
            (wants.cpus > 0 ? fmt::format(" of {} core(s)", wants.cpus) : "")};
    if (const int gpus = wants.gpus.value_or(0); gpus > 0)
      parts.push_back(fmt::format("{} GPU(s) a node", gpus));
    if (wants.memory_bytes > 0) parts.push_back(base::format_bytes(wants.memory_bytes) + " a node");
    parts.push_back(wants.time ? base::format_duration(*wants.time) : "no limit of time");
    text += fmt::format("job {} at {}: {}\n  {}\n",
                        ++number,
                        base::printable(site.name),
                        base::printable(fmt::format("{}", fmt::join(step.stages, ", "))),
                        fmt::join(parts, ", "));
  }
  return text;
}

}  // namespace sabath::live

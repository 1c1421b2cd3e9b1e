#include "run.hpp"

#include <sabath/analysis/study_power.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/submit_runs.hpp>
#include <sabath/compare/statistical_power.hpp>
#include <sabath/live/study_text.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sabath::cli {
namespace {

constexpr std::size_t most_lines = 60;

std::string seeds_text(const std::vector<spec::StudyPoint>& points) {
  const auto& first = points.front().seed;
  const bool same =
      std::ranges::all_of(points, [&](const auto& point) { return point.seed == first; });
  if (!same) return "";
  return "  seed = " + (first ? std::to_string(*first) : std::string("drawn for each run")) + "\n";
}

/// What all runs share stands above, so that the table has what tells them apart.
std::string table_text(const std::vector<spec::StudyPoint>& points) {
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

/// Said before a study is started, not after: whether it can show what it is made for.
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

/// The same in one line.
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

/// Of the runs that there are; none where there never was one, since nothing is to be made.
analysis::StudyPower power_of(const planning::RunRequest& request,
                              const std::vector<spec::StudyPoint>& points,
                              Workspace& workspace) {
  std::error_code code;
  const bool has_runs = std::filesystem::exists(workspace.folders().runs(), code);
  return analysis::study_power(
      request.recipe, points, has_runs ? &workspace.catalog() : nullptr, workspace.clock().now());
}

/// What each of its jobs asks the scheduler for.
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

}  // namespace

void note_power(const planning::RunRequest& request,
                const std::vector<spec::StudyPoint>& points,
                Workspace& workspace) {
  workspace.observer().note(short_power_text(power_of(request, points, workspace)) +
                            " (--dry-run says more)");
}

int show_dry_run(const RunOptions& options,
                 const planning::RunRequest& request,
                 const std::vector<spec::StudyPoint>& points,
                 Workspace& workspace) {
  std::optional<spec::Site> site;
  if (!options.on.empty()) site = workspace.site(options.on);
  const std::vector<spec::BatchStep> steps = check_jobs(options, request, points, workspace);
  planning::RunRequest first = request;
  first.set = points.front().set;
  first.seed = points.front().seed;
  planning::RunRequest one = request;
  for (const auto& set : planning::settings_of(points)) {
    one.set = set;
    const spec::RunPlan planned = planning::RecipePreparer::dry_run(one);
    for (const auto& [role, asset] : one.recipe.datasets_for(planned.parameters))
      workspace.documents().asset(asset);
  }
  const spec::RunPlan plan = planning::RecipePreparer::dry_run(first);
  std::optional<analysis::StudyPower> power;
  if (asks_for_study(options)) power = power_of(request, points, workspace);
  if (workspace.json()) {
    workspace.answer(live::json_dry_run(plan, points, power));
    return exit_done;
  }
  const std::vector<std::string> varied = planning::varied_parameters(points);
  std::string text = std::to_string(points.size()) + " run(s) of " + request.recipe.name +
                     (request.task.empty() ? "" : ", task " + request.task) + "\n";
  for (const auto& [name, value] : plan.parameters) {
    if (std::ranges::find(varied, name) != varied.end()) continue;
    text += "  " + name + " = " + base::printable(spec::shown_text(spec::to_string(value))) + "\n";
  }
  text += seeds_text(points);
  for (const spec::PlannedStage& stage : plan.stages) {
    text += "stage " + stage.name + (stage.cache ? " (cached)" : "") +
            (stage.variant ? " in variant " + *stage.variant : "") + "\n  " +
            base::printable(stage.not_due ? "not due: " + *stage.not_due
                                          : base::shown_command(stage.argv)) +
            "\n";
  }
  if (site) text += jobs_text(steps, *site);
  if (power) text += table_text(points) + power_text(*power);
  workspace.answer(text);
  return exit_done;
}

}  // namespace sabath::cli

#include <sabath/analysis/whole_values.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/live/answers.hpp>
#include <sabath/live/study_text.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;
using spec::RunState;

constexpr std::size_t most_table_metrics = 4;
constexpr std::size_t most_problems = 10;

constexpr std::array in_order{RunState::ok,
                              RunState::failed,
                              RunState::stopped,
                              RunState::interrupted,
                              RunState::lost,
                              RunState::unknown,
                              RunState::running,
                              RunState::planned};

const spec::MetricSummary* summary_of(const spec::RunRecord& record, const std::string& name) {
  const auto found = std::ranges::find(record.metrics, name, &spec::MetricSummary::name);
  return found == record.metrics.end() ? nullptr : &*found;
}

/// A metric of the table.
struct Shown {
  std::string name{};
  bool performance = false;
  std::optional<std::string> judge{};
};

/// Results before those that are neither good nor bad, these before performance; no more than fit
/// beside the rest.
std::vector<Shown> shown_metrics(const spec::RunRecord& record) {
  const auto place_of = [](const spec::MetricSummary& metric) {
    return metric.performance ? 2 : metric.better == spec::Better::none ? 1 : 0;
  };
  std::vector<Shown> shown;
  for (const int place : {0, 1, 2}) {
    for (const spec::MetricSummary& metric : record.metrics) {
      const bool is_new =
          std::ranges::none_of(shown, [&](const Shown& one) { return one.name == metric.name; });
      if (place_of(metric) == place && is_new && shown.size() < most_table_metrics)
        shown.push_back({metric.name, metric.performance, metric.judge});
    }
  }
  return shown;
}

std::string value_text(const spec::RunRecord& record,
                       const spec::WholeSummaries& whole,
                       const Shown& metric) {
  const spec::MetricSummary* summary = summary_of(record, metric.name);
  if (summary == nullptr || summary->performance != metric.performance ||
      summary->judge != metric.judge) {
    return "";
  }
  std::string digits = metric.performance ? "" : spec::whole_judged(whole, *summary);
  if (!digits.empty()) return digits;
  const auto value = spec::shown_value(*summary);
  return value ? report::number_text(*value) : "";
}

/// The runs of a study, one a line.
std::string table_text(const analysis::StudyOutcome& outcome) {
  const std::vector<std::string> parameters = planning::varied_parameters(outcome.plan.points);
  std::vector<Shown> metrics;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < outcome.points.size(); ++i) {
    const spec::StudyPoint& asked = outcome.plan.points[i];
    const analysis::PointOutcome& point = outcome.points[i];
    std::vector<std::string>& cells = rows.emplace_back();
    for (const std::string& name : parameters)
      cells.push_back(asked.set.at(name));
    std::optional<execution::CurrentRecord> current;
    if (point.run) current = execution::read_current(home::RunFiles(point.run->directory));
    const auto& seed =
        current && current->record.seed.value ? current->record.seed.value : asked.seed;
    cells.push_back(seed ? std::to_string(*seed) : "");
    cells.push_back(point.run ? state_word(point) : "not run");
    if (!current) continue;
    const spec::WholeSummaries whole =
        analysis::whole_values_of(current->record.metrics, current->series);
    cells.push_back(base::seconds_text(current->record.wall_s));
    if (metrics.empty()) metrics = shown_metrics(current->record);
    for (const Shown& metric : metrics)
      cells.push_back(value_text(current->record, whole, metric));
  }
  std::vector<base::TextTable::Column> columns;
  for (const std::string& name : parameters)
    columns.push_back({name, base::Align::right});
  columns.insert(columns.end(), {">seed", "state", ">time"});
  for (const Shown& metric : metrics)
    columns.push_back(
        {spec::shown_title(metric.name, "", metric.performance, metric.judge), base::Align::right});
  columns.push_back("run");
  base::TextTable table(columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& run = outcome.points[i].run;
    rows[i].resize(columns.size() - 1);
    rows[i].push_back(run ? run->run_id : "");
    table.add(std::move(rows[i]));
  }
  return table.text();
}

std::string counts_text(const analysis::StudyOutcome& outcome) {
  std::map<RunState, std::size_t> counts;
  std::size_t left = 0;
  for (const analysis::PointOutcome& point : outcome.points) {
    if (point.run) ++counts[point.run->state];
    if (!point.run) ++left;
  }
  return counts_line(counts, "", left);
}

/// ": " and the last line that a failed stage of the run printed.
std::string last_line_of(const execution::RunOutcome& run) {
  const auto current = execution::read_current(home::RunFiles(run.directory));
  if (!current) return {};
  for (const spec::StageRecord& stage : current->record.stages) {
    if (!stage.log_tail.empty()) return ": " + base::last_lines(stage.log_tail, 1, "");
  }
  return {};
}

std::string problems_text(const analysis::StudyOutcome& outcome) {
  std::string text;
  std::size_t listed = 0;
  for (const analysis::PointOutcome& point : outcome.points) {
    if (!point.run || point.run->message.empty() || point.run->state == RunState::ok) continue;
    if (listed == most_problems) return text + "  ... and others\n";
    ++listed;
    text += "  " + point.run->run_id + ": " +
            base::printable(point.run->message + last_line_of(*point.run)) + "\n";
  }
  return text;
}

std::string text_of(const analysis::StudyOutcome& outcome) {
  const std::string& id = outcome.plan.study_id;
  std::string text = table_text(outcome);
  text += "study " + id + ": " + counts_text(outcome) + "\n" + problems_text(outcome);
  const spec::RunCount count = spec::count_runs(analysis::why_not_counted(outcome));
  if (count.all > 0) text += "  " + spec::count_text(count) + "\n";
  text += "  in " + base::printable(outcome.directory.native()) + "\n";
  if (outcome.has_other_driver) {
    text += "under way: 'sabath wait " + id + "' waits for its end\n";
  } else if (outcome.open() > 0) {
    text += "to go on: sabath run --resume " + id + "\n";
  }
  if (outcome.count(RunState::failed) > 0 && !outcome.has_other_driver)
    text += "to run again what failed: sabath run --resume " + id + " --retry\n";
  text += "again: " + base::printable(outcome.plan.command) + "\n";
  const std::vector<spec::StudyPoint>& points = outcome.plan.points;
  if (std::ranges::any_of(points, [](const auto& point) { return !point.seed; })) {
    text +=
        "  its runs drew seeds of their own: 'sabath repro RUN' repeats one; --seeds A..B sets "
        "them\n";
  }
  return text;
}

ordered_json power_json(const analysis::StudyPower& power) {
  ordered_json metrics = ordered_json::array();
  for (const analysis::MetricPower& one : power.metrics) {
    ordered_json metric = {{"metric", one.metric}, {"unit", one.unit}, {"margin", one.margin}};
    if (!one.stage.empty()) metric["stage"] = one.stage;
    if (one.deviation) {
      metric["deviation"] = *one.deviation;
      metric["runs"] = one.runs;
      metric["power"] = one.power.value_or(0);
    }
    metrics.push_back(std::move(metric));
  }
  return {{"runs_of_each_setting", power.runs},
          {"seeds_of_each_setting", power.seeds},
          {"counted", power.counted},
          {"metrics", metrics}};
}

}  // namespace

std::string counts_line(const std::map<RunState, std::size_t>& counts,
                        const std::string& why_planned,
                        std::size_t left) {
  std::size_t all = left;
  for (const auto& [state, number] : counts)
    all += number;
  std::vector<std::string> parts;
  const auto add = [&](std::size_t number, const std::string& what) {
    if (number > 0) parts.push_back(" " + std::to_string(number) + " " + what);
  };
  for (const RunState state : in_order) {
    const auto found = counts.find(state);
    const bool has_reason = state == RunState::planned && !why_planned.empty();
    if (found == counts.end()) continue;
    add(found->second,
        std::string(spec::to_string(state)) + (has_reason ? " (" + why_planned + ")" : ""));
  }
  add(left, "not run");
  return base::counted(all, "run") + ":" + base::joined(parts, ",");
}

std::string json_dry_run(const spec::RunPlan& plan,
                         const std::vector<spec::StudyPoint>& points,
                         const std::optional<analysis::StudyPower>& power) {
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : plan.parameters)
    parameters[name] = spec::to_json(value);
  ordered_json stages = ordered_json::array();
  for (const spec::PlannedStage& stage : plan.stages) {
    stages.push_back({{"name", stage.name},
                      {"needs", stage.needs},
                      {"cache", stage.cache},
                      {"run", stage.argv},
                      {"outputs", stage.outputs}});
    if (stage.variant) stages.back()["variant"] = *stage.variant;
    if (stage.not_due) stages.back()["not_due"] = *stage.not_due;
  }
  ordered_json all = ordered_json::array();
  for (const spec::StudyPoint& point : points)
    all.push_back(point_json(point));
  ordered_json answer = {{"schema", 1}, {"runs", points.size()}};
  if (plan.task) answer["task"] = *plan.task;
  answer.update(ordered_json{{"parameters", parameters}, {"stages", stages}, {"points", all}});
  if (power) answer["power"] = power_json(*power);
  return base::pretty_json(answer);
}

std::string study_text(const analysis::StudyOutcome& outcome) {
  return text_of(outcome);
}

}  // namespace sabath::live

#include "report_facts.hpp"

#include <sabath/analysis/check_samples.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::analysis {
namespace {

namespace fs = std::filesystem;
using report::ReportRun;
using spec::RunRecord;

/// The accelerators' energy, else the node's, else its processors' with their memory: what holds
/// what is not counted twice. Nothing where nothing was counted.
void set_energy(ReportRun& run, const RunRecord& record) {
  run.energy = record.energy;
  if (!record.energy_readings) return;
  using Fits = bool (*)(const std::string&);
  const std::pair<const char*, Fits> kinds[] = {
      {"GPUs", [](const std::string& device) { return device.starts_with("GPU-"); }},
      {"node", [](const std::string& device) { return device == "node"; }},
      {"processors", [](const std::string& device) {
         const bool part = device.find('/') != std::string::npos && !device.ends_with("/dram");
         return !part && (device.starts_with("package") || device.starts_with("socket"));
       }}};
  for (const auto& [what, fits] : kinds) {
    double joules = 0;
    std::set<std::string> methods;
    for (const spec::EnergyReading& reading : *record.energy_readings) {
      if (!fits(reading.device)) continue;
      joules += reading.joules;
      methods.insert(reading.method);
    }
    if (methods.empty()) continue;
    run.joules = joules;
    run.energy = fmt::format("{} of the {}", fmt::join(methods, ", "), what);
    return;
  }
}

std::string device_of(const RunRecord& record) {
  std::vector<std::string> words;
  for (const auto& [model, count] : devices_of(record.hosts))
    words.push_back(count == 1 ? model : fmt::format("{} x {}", count, model));
  return fmt::format("{}", fmt::join(words, " + "));
}

std::string code_of(const RunRecord& record) {
  if (!record.code_state || !record.code_state->git) return {};
  const spec::GitState& git = *record.code_state->git;
  std::string text = git.commit.empty() ? "no commit" : "commit " + git.commit;
  if (!git.branch.empty()) text += " on " + git.branch;
  if (git.dirty_files > 0) text += fmt::format(", {} files differ from it", git.dirty_files);
  for (const auto& [name, url] : git.remotes)
    text += fmt::format(", {} {}", name, url);
  return base::redact(text);
}

/// Whether stages continued earlier attempts, whose cost is unknown.
bool goes_on(const RunRecord& record) {
  return std::ranges::any_of(record.stages,
                             [](const auto& stage) { return stage.earlier_attempts.has_value(); });
}

void fill_run(ReportRun& run, const RunRecord& record) {
  run.recipe = record.recipe_name;
  run.state = std::string(spec::to_string(record.state));
  run.message = record.state == spec::RunState::imported ? "" : record.message;
  run.started = record.started.empty() ? record.created : record.started;
  std::set<std::string> nodes;
  for (const spec::HostFacts& host : record.hosts)
    nodes.insert(host.node);
  run.host = fmt::format("{}", fmt::join(nodes, ", "));
  run.device = device_of(record);
  run.seed = record.seed.value ? std::to_string(*record.seed.value) : "";
  run.user = record.user;
  run.sabath_version = record.sabath_version;
  run.code = code_of(record);
  for (const auto& [name, value] : record.parameters)
    run.parameters[name] = spec::to_string(value);
  if (record.state == spec::RunState::imported) {
    if (const spec::Facet* imported = record.facet("imported")) {
      for (const auto& [name, value] : imported->items) {
        if (name == "host") run.host = value;
        if (!name.starts_with("import.")) run.parameters[name] = value;
      }
    }
  } else if (!goes_on(record)) {
    run.wall_s = record.wall_s;
  }
  if (!goes_on(record)) set_energy(run, record);
  run.reproduce = record.reproduce;
  run.complete = record.state == spec::RunState::ok || record.state == spec::RunState::imported;
}

}  // namespace

RunFacts read_run_facts(const catalog::RunRow& row) {
  RunFacts facts;
  facts.run.id = row.id;
  facts.run.recipe = row.recipe;
  facts.run.state = std::string(spec::to_string(row.state));
  facts.run.started = row.created;
  facts.run.host = row.node;
  facts.run.seed = row.seed;
  facts.run.message = row.message;
  const home::RunFiles files(row.directory);
  for (const home::RunStatement& one : home::read_statements(row.directory)) {
    if (one.kind == home::RunStatement::Kind::note)
      facts.notes.push_back(
          fmt::format("{}: {} ({}, {:.10})", row.id, base::redact(one.text), one.by, one.at));
  }
  try {
    auto current = execution::read_current(files);
    if (!current) return facts;
    RunRecord& record = current->record;
    fill_run(facts.run, record);
    facts.whole = whole_values_of(current->record.metrics, current->series);
    facts.metrics = std::move(record.metrics);
    facts.declared = spec::with_derived(current->declared);
    facts.facets = std::move(record.facets);
    facts.stages = std::move(record.stages);
    facts.recipe_text = std::move(record.recipe_text);
    std::error_code code;
    if (fs::exists(current->series, code)) facts.series = current->series;
    if (record.usage.samples > 0) facts.usage = usage_courses(files.last_attempt());
  } catch (const base::Error& error) {
    facts.notes.push_back(row.id + ": " + error.what());
  }
  return facts;
}

MetricKey key_of(const spec::MetricSummary& summary) {
  return {summary.stream + "/" + summary.name,
          summary.unit == "1" ? "" : summary.unit,
          summary.performance,
          summary.judge};
}

std::map<MetricKey, std::size_t> columns_of(const report::Report& report) {
  std::map<MetricKey, std::size_t> columns;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    const report::ReportMetric& metric = report.metrics[i];
    const std::string unit = metric.unit == "1" ? "" : metric.unit;
    columns[{metric.name, unit, metric.performance, metric.judge}] = i;
  }
  return columns;
}

void fill_metrics(report::Report& report, const std::vector<RunFacts>& facts) {
  std::map<std::string, std::size_t> places;  // in the recipe's order
  for (const RunFacts& one : facts) {
    for (const spec::MetricSpec& metric : one.declared)
      places.try_emplace(metric.name, places.size());
  }
  struct Column {
    report::ReportMetric metric{};
    std::size_t place = 0;
  };
  std::map<MetricKey, Column> columns;
  for (const RunFacts& one : facts) {
    const bool is_imported = one.run.state == "imported";
    for (const spec::MetricSummary& summary : one.metrics) {
      const std::string name = summary.stream + "/" + summary.name;
      const auto place = places.find(summary.name);
      Column& column = columns[key_of(summary)];
      column.metric = {name,
                       summary.unit,
                       summary.better,
                       summary.performance,
                       is_imported || place != places.end(),
                       summary.judge};
      column.place = place == places.end() ? places.size() : place->second;
    }
  }
  std::vector<Column> sorted;
  for (auto& [name, column] : columns)
    sorted.push_back(std::move(column));
  std::ranges::stable_sort(sorted, {}, &Column::place);
  for (Column& column : sorted)
    report.metrics.push_back(std::move(column.metric));
  const std::map<MetricKey, std::size_t> indexes = columns_of(report);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    report.runs[i].values.resize(report.metrics.size());
    for (const spec::MetricSummary& summary : facts[i].metrics) {
      const std::size_t index = indexes.at(key_of(summary));
      report.runs[i].values[index] = spec::shown_value(summary);
      if (summary.points == 0 || summary.performance) continue;
      set_whole(report.runs[i].whole,
                report.metrics.size(),
                index,
                spec::whole_judged(facts[i].whole, summary));
    }
  }
}

void fill_items(report::Report& report, const std::vector<RunFacts>& facts) {
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  std::vector<std::map<std::string, std::size_t>> numbers;
  for (std::size_t run = 0; run < facts.size(); ++run) {
    for (const spec::Facet& facet : facts[run].facets) {
      // Digests of two homes say nothing about each other.
      if (facet.name == spec::session_facet) continue;
      for (const auto& [name, value] : facet.items) {
        if (facet.name == spec::opened_facet && !spec::is_opened_path(name)) continue;
        const auto [found, added] = known.try_emplace({facet.name, name}, report.items.size());
        if (added) {
          report.items.push_back({facet.name, name, {}, {}});
          report.items.back().of_run.resize(facts.size());
          numbers.emplace_back();
        }
        report::ReportItem& item = report.items[found->second];
        const auto [number, is_new] = numbers[found->second].try_emplace(value, item.values.size());
        if (is_new) item.values.push_back(value);
        item.of_run[run] = number->second;
      }
    }
  }
}

void fill_stages(report::Report& report, const std::vector<RunFacts>& facts) {
  std::map<std::string, std::size_t> texts;
  for (const RunFacts& one : facts) {
    if (!one.recipe_text.empty()) ++texts[one.recipe_text];
  }
  const auto most =
      std::ranges::max_element(texts, {}, [](const auto& text) { return text.second; });
  if (most == texts.end()) return;
  if (texts.size() > 1) {
    report.notes.push_back(fmt::format(
        "the runs have {} recipe documents; the stages are those of the one that {} have",
        texts.size(),
        most->second));
  }
  const spec::Recipe recipe = spec::parse_recipe(most->first, "recipe");
  report.stages_of = recipe.name;
  std::map<std::string, std::size_t> indexes;
  for (const spec::Stage* stage : spec::ordered_stages(recipe)) {
    indexes[stage->name] = report.stages.size();
    report.stages.push_back({stage->name, stage->needs, {}, {}});
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].recipe_text != most->first) continue;
    for (const spec::StageRecord& record : facts[i].stages) {
      const auto found = indexes.find(record.name);
      if (found == indexes.end()) continue;
      report::ReportStage& stage = report.stages[found->second];
      ++stage.states[record.state];
      if (record.state == "ok" && report::is_shown(report, i))
        stage.wall_s.push_back(record.wall_s);
    }
  }
}

}  // namespace sabath::analysis

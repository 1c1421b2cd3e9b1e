#include "document.hpp"
#include "formats.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/printable_json.hpp>

#include <nlohmann/json.hpp>

namespace sabath::report {
namespace {

using Json = nlohmann::ordered_json;

Json metrics_json(const Report& report) {
  Json array = Json::array();
  for (const ReportMetric& metric : report.metrics) {
    array.push_back({{"name", metric.name},
                     {"unit", metric.unit},
                     {"better", std::string(spec::to_string(metric.better))},
                     {"performance", metric.performance},
                     {"declared", metric.declared}});
  }
  return array;
}

/// The names of metrics; where several units or kinds have one name, with these.
std::vector<std::string> keys_of(const Report& report) {
  std::map<std::string, std::size_t> columns;
  for (const ReportMetric& metric : report.metrics)
    ++columns[metric.name];
  std::vector<std::string> keys;
  for (const ReportMetric& metric : report.metrics)
    keys.push_back(columns[metric.name] == 1 ? metric.name : heading_of(metric));
  return keys;
}

Json run_json(const std::vector<std::string>& keys, const ReportRun& run) {
  Json json = {{"id", run.id},
               {"recipe", run.recipe},
               {"state", run.state},
               {"complete", run.complete},
               {"counts", run.counts()},
               {"message", run.message},
               {"started", run.started},
               {"host", run.host},
               {"device", run.device},
               {"user", run.user},
               {"sabath_version", run.sabath_version},
               {"code", run.code},
               {"seed", run.seed},
               {"parameters", run.parameters},
               {"levels", run.levels}};
  if (!run.counts()) json["left_out"] = run.left_out;
  if (run.wall_s) json["wall_s"] = base::json_number(*run.wall_s);
  if (run.joules) json["energy_j"] = base::json_number(*run.joules);
  json["energy"] = run.energy;
  Json values = Json::object();
  for (std::size_t m = 0; m < keys.size(); ++m) {
    if (run.values[m]) values[keys[m]] = base::json_number(*run.values[m]);
  }
  json["values"] = std::move(values);
  for (std::size_t m = 0; m < run.whole.size(); ++m) {
    if (!run.whole[m].empty()) json["whole"][keys[m]] = run.whole[m];
  }
  json["reproduce"] = run.reproduce;
  return json;
}

Json curve_json(const Curve& curve) {
  Json spread = Json::array();
  for (const Spread& one : curve.spread) {
    spread.push_back({{"x", one.x},
                      {"lowest", one.lowest},
                      {"low", one.low},
                      {"middle", one.middle},
                      {"high", one.high},
                      {"highest", one.highest},
                      {"runs", one.runs}});
  }
  return {{"name", curve.name},
          {"runs", curve.runs},
          {"not_finite", curve.not_finite},
          {"second_axis", curve.on_second_axis},
          {"spread", std::move(spread)}};
}

Json charts_json(const std::vector<Chart>& charts) {
  Json array = Json::array();
  for (const Chart& chart : charts) {
    Json curves = Json::array();
    for (const Curve& curve : chart.curves)
      curves.push_back(curve_json(curve));
    array.push_back({{"title", chart.title},
                     {"x", chart.x},
                     {"y", chart.y},
                     {"second_y", chart.second_y},
                     {"curves", std::move(curves)}});
  }
  return array;
}

Json items_json(const Report& report) {
  Json array = Json::array();
  for (const ReportItem& item : report.items) {
    Json of_run = Json::array();
    for (const auto& value : item.of_run)
      of_run.push_back(value ? Json(*value) : Json(nullptr));
    array.push_back({{"facet", item.facet},
                     {"item", item.item},
                     {"values", item.values},
                     {"of_run", std::move(of_run)}});
  }
  return array;
}

Json stages_json(const Report& report) {
  Json array = Json::array();
  for (const ReportStage& stage : report.stages) {
    array.push_back({{"name", stage.name},
                     {"needs", stage.needs},
                     {"states", stage.states},
                     {"wall_s", stage.wall_s}});
  }
  return array;
}

}  // namespace

std::string write_json(const Report& report) {
  const Document document = document_of(report);
  const std::vector<std::string> keys = keys_of(report);
  Json runs = Json::array();
  for (const ReportRun& run : report.runs)
    runs.push_back(run_json(keys, run));
  Json json = {{"schema", 1},
               {"selection", report.selection},
               {"by", report.by},
               {"made", report.made},
               {"sabath_version", report.sabath_version},
               {"command", report.command},
               {"verdict", document.verdict},
               {"reason", document.reason},
               {"count", spec::to_json(report.count)},
               {"notes", report.notes},
               {"metrics", metrics_json(report)},
               {"runs", std::move(runs)}};
  if (report.pair) json["pair"] = spec::to_json(*report.pair);
  if (report.groups) json["groups"] = spec::to_json(*report.groups);
  json["courses"] = charts_json(report.courses);
  json["usage"] = charts_json(report.usage);
  json["items"] = items_json(report);
  json["stages_of"] = report.stages_of;
  json["stages"] = stages_json(report);
  return base::printable_json(base::pretty_json(json));
}

}  // namespace sabath::report

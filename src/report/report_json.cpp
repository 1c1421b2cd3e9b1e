#include "document.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>

#include <nlohmann/json.hpp>

namespace sabath::report {
using Json = nlohmann::ordered_json;

// Found by the JSON library, also for lists of these.
static void to_json(Json& json, const ReportMetric& metric) {
  json = {{"name", metric.name},
          {"unit", metric.unit},
          {"better", std::string(spec::to_string(metric.better))},
          {"performance", metric.performance},
          {"declared", metric.declared}};
  if (metric.judge) json["judge"] = *metric.judge;
}

static void to_json(Json& json, const Spread& one) {
  json = {{"x", one.x},
          {"lowest", one.lowest},
          {"low", one.low},
          {"middle", one.middle},
          {"high", one.high},
          {"highest", one.highest},
          {"runs", one.runs}};
}

static void to_json(Json& json, const Curve& curve) {
  json = {{"name", curve.name},
          {"runs", curve.runs},
          {"not_finite", curve.not_finite},
          {"second_axis", curve.on_second_axis},
          {"spread", curve.spread}};
}

static void to_json(Json& json, const Chart& chart) {
  json = {{"title", chart.title},
          {"x", chart.x},
          {"y", chart.y},
          {"second_y", chart.second_y},
          {"curves", chart.curves}};
}

static void to_json(Json& json, const ReportItem& item) {
  Json of_run = Json::array();
  for (const auto& value : item.of_run)
    of_run.push_back(value ? Json(*value) : Json(nullptr));
  json = {{"facet", item.facet},
          {"item", item.item},
          {"values", item.values},
          {"of_run", std::move(of_run)}};
}

static void to_json(Json& json, const ReportStage& stage) {
  json = {{"name", stage.name},
          {"needs", stage.needs},
          {"states", stage.states},
          {"wall_s", stage.wall_s}};
}

namespace {

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
               {"metrics", report.metrics},
               {"runs", std::move(runs)}};
  if (report.ranking) json["ranking"] = spec::to_json(*report.ranking);
  if (report.pair) json["pair"] = spec::to_json(*report.pair);
  if (report.groups) json["groups"] = spec::to_json(*report.groups);
  json["courses"] = report.courses;
  json["usage"] = report.usage;
  json["items"] = report.items;
  json["stages_of"] = report.stages_of;
  json["stages"] = report.stages;
  return base::printable_json(base::pretty_json(json));
}

}  // namespace sabath::report

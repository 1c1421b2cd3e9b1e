#include "pages.hpp"
#include "runs_under_way.hpp"
#include "series_so_far.hpp"
#include "view_state.hpp"

#include <sabath/analysis/compare_pair.hpp>
#include <sabath/analysis/report_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/compare_so_far.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/report/report.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sabath::live {
namespace {

using base::Error;
using base::ErrorKind;
using nlohmann::ordered_json;

constexpr std::size_t most_reported = 500;

std::vector<std::string> names_of(const serve::Query& query, const std::string& name) {
  return base::split(query.parameter(name), ',');
}

compare::Rules rules_of(const RunFollower& run) {
  return {spec::with_derived(run.declared()), run.recipe().compare, run.recipe().require, {}, {}};
}

ordered_json metric_json(const compare::MetricSoFar& metric, spec::Rung required) {
  ordered_json json{{"name", metric.name},
                    {"judged", metric.item.judged},
                    {"last", metric.last},
                    {"equal_to", metric.equal_to},
                    {"differs", metric.differs()}};
  if (metric.differs()) json["text"] = compare::divergence_text(metric, required);
  return json;
}

/// "equal to the bit up to step 412", or the first place where a judged metric differs.
std::string headline_of(const std::vector<compare::MetricSoFar>& metrics, spec::Rung required) {
  std::string equal;
  bool is_equal = true;
  for (const compare::MetricSoFar& metric : metrics) {
    if (!metric.item.judged) continue;
    if (metric.differs()) return compare::divergence_text(metric, required);
    if (metric.last.empty()) continue;
    is_equal = is_equal && metric.equal_to == metric.last;
    if (equal.empty()) equal = metric.last;
  }
  if (equal.empty()) return "no metric has a place that both runs have reached";
  return is_equal ? "equal to the bit up to " + equal
                  : fmt::format("holds {} up to {}", spec::to_string(required), equal);
}

ordered_json so_far_json(ViewState& state, const catalog::RunRow& a, const catalog::RunRow& b) {
  const std::shared_ptr<SeriesKept> one = state.series(a);
  const std::shared_ptr<SeriesKept> other = state.series(b);
  one->refresh();
  other->refresh();
  if (one->follower().recipe().text.empty() || other->follower().recipe().text.empty())
    return {{"state", "waiting"}, {"headline", "one of the runs has not begun"}};
  const compare::Rules rules =
      compare::merged_rules(rules_of(one->follower()), rules_of(other->follower()));
  const compare::Options options;
  const spec::Rung required = compare::required_so_far(rules, options);
  const auto metrics =
      compare::compare_so_far({one->series(), one->rests(), one->follower().is_over()},
                              {other->series(), other->rests(), other->follower().is_over()},
                              rules,
                              options);
  ordered_json all = ordered_json::array();
  for (const compare::MetricSoFar& metric : metrics)
    all.push_back(metric_json(metric, required));
  const bool differs = std::ranges::any_of(
      metrics, [](const auto& metric) { return metric.item.judged && metric.differs(); });
  return {{"state", "so far"},
          {"required", spec::to_string(required)},
          {"differs", differs},
          {"headline", headline_of(metrics, required)},
          {"metrics", std::move(all)}};
}

/// Points of the runs' studies that have no run yet: their processes are still to start.
std::size_t points_without_run(ViewState& state, const std::vector<catalog::RunRow>& runs) {
  std::set<std::string> studies;
  for (const catalog::RunRow& run : runs) {
    if (!run.study.empty()) studies.insert(run.study);
  }
  std::size_t missing = 0;
  for (const std::string& id : studies) {
    try {
      const home::StudyFiles files(state.parts().folders.studies() / id);
      std::set<std::size_t> begun;
      for (const home::StudyFiles::Run& run : files.runs())
        begun.insert(run.point);
      const std::size_t points = files.read_plan().points.size();
      missing += points > begun.size() ? points - begun.size() : 0;
    } catch (const Error&) {
      continue;  // a study that was removed has nothing to start
    }
  }
  return missing;
}

/// Who looks often would find a difference by chance: columns and facts with verdicts are left out.
void leave_out_verdicts(ordered_json& document) {
  ordered_json facts = ordered_json::array();
  for (ordered_json& fact : document["facts"]) {
    if (fact[0] != "Performance") facts.push_back(std::move(fact));
  }
  document["facts"] = std::move(facts);
  for (ordered_json& section : document["sections"]) {
    for (ordered_json& block : section["blocks"]) {
      if (block["kind"] != "table") continue;
      ordered_json& columns = block["columns"];
      for (std::size_t i = columns.size(); i-- > 0;) {
        const std::string title = columns[i]["title"];
        if (title != "verdict" && title != "reason") continue;
        columns.erase(i);
        for (ordered_json& row : block["rows"])
          row.erase(i);
      }
    }
  }
}

analysis::ReportRequest request_of(const serve::Query& query) {
  analysis::ReportRequest request;
  request.selection = query.parameter("select");
  request.by = names_of(query, "by");
  for (const std::string& name : names_of(query, "across"))
    request.across.insert(name);
  std::vector<std::string> words{"sabath", "report", request.selection};
  for (const std::string& by : request.by)
    words.insert(words.end(), {"--by", by});
  for (const std::string& across : request.across)
    words.insert(words.end(), {"--across", across});
  words.insert(words.end(), {"-o", "report.html"});
  request.command = base::shown_command(words);
  return request;
}

}  // namespace

std::string compare_json(ViewState& state, const serve::Query& query) {
  catalog::RunRow a;
  catalog::RunRow b;
  {
    const std::lock_guard lock(state.mutex());
    a = state.run(query.parameter("a"));
    b = state.run(query.parameter("b"));
    state.under_way().refresh({a, b});
    a.state = state.under_way().state_of(a);
    b.state = state.under_way().state_of(b);
  }
  ordered_json json{{"schema", 1},
                    {"a", {{"id", a.id}, {"state", spec::to_string(a.state)}}},
                    {"b", {{"id", b.id}, {"state", spec::to_string(b.state)}}},
                    {"command", "sabath compare " + a.id + " " + b.id}};
  if (a.id == b.id) throw Error(ErrorKind::usage, "a run is not compared with itself");
  if (spec::is_final(a.state) && spec::is_final(b.state)) {
    compare::Options options;
    for (const std::string& name : names_of(query, "across"))
      options.across.insert(name);
    json["state"] = "over";
    json["comparison"] =
        spec::to_json(analysis::compare_pair(a.directory, b.directory, std::move(options)));
  } else {
    const std::lock_guard lock(state.series_mutex());
    json.update(so_far_json(state, a, b));
  }
  return base::compact_json(json);
}

std::string report_json(ViewState& state, const serve::Query& query) {
  analysis::ReportRequest request = request_of(query);
  if (request.selection.empty()) throw Error(ErrorKind::usage, "select: names no runs");
  // Of its own: a report takes long, and pages are to stay quick.
  const catalog::Catalog catalog(state.parts().folders.catalog());
  std::vector<catalog::RunRow> runs = catalog.select(request.selection, state.clock().now());
  const std::size_t all = runs.size();
  std::erase_if(runs, [](const catalog::RunRow& run) { return !spec::is_final(run.state); });
  if (runs.size() > most_reported) {
    throw Error(ErrorKind::usage,
                fmt::format("{} runs are too many for a page", runs.size()),
                "run '" + request.command + "'");
  }
  if (runs.empty()) {
    return base::compact_json(
        {{"schema", 1},
         {"title", "Runs of " + request.selection},
         {"verdict", all == 0 ? "NO RUNS" : "SO FAR"},
         {"mood", "open"},
         {"reason", all == 0 ? "no run matches" : base::counted(all, "run") + ", none has ended"},
         {"facts", ordered_json::array()},
         {"sections", ordered_json::array()},
         {"open", all},
         {"command", request.command}});
  }
  request.named.add_selection(request.selection, runs, catalog);
  const report::Report report = analysis::report_runs(runs, request, catalog, state.clock());
  const std::size_t open = all - runs.size() + points_without_run(state, runs);
  if (open == 0) return report::document_json(report);
  ordered_json json = ordered_json::parse(report::document_json(report));
  json["verdict"] = "SO FAR";
  json["mood"] = "open";
  json["reason"] = fmt::format("{} of {} have ended; the verdict comes with the last one",
                               runs.size(),
                               base::counted(runs.size() + open, "run"));
  json["open"] = open;
  leave_out_verdicts(json);
  return base::compact_json(json);
}

}  // namespace sabath::live

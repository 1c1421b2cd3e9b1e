#include "pages.hpp"
#include "runs_under_way.hpp"
#include "view_state.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/run_facets.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/spec/study.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;
using spec::RunState;

constexpr std::size_t most_studies = 50;
constexpr std::size_t most_study_metrics = 12;

std::map<std::string, std::uint64_t> states_of(const catalog::RunFacets& runs,
                                               const RunsUnderWay& under_way,
                                               const std::string& id,
                                               base::WallTime now) {
  std::map<std::string, std::uint64_t> states;
  for (const auto& [state, count] : runs.counts("study=" + id, "status", 20, now))
    states[state] = count;
  for (const auto& [change, count] : under_way.moved_in(id)) {
    std::uint64_t& before = states[std::string(spec::to_string(change.first))];
    before -= std::min(before, count);
    if (before == 0) states.erase(std::string(spec::to_string(change.first)));
    states[std::string(spec::to_string(change.second))] += count;
  }
  return states;
}

/// The newest run of each point, unless an earlier one is ok.
std::map<std::size_t, const catalog::RunRow*> runs_by_point(
    const std::vector<home::StudyFiles::Run>& begun, const std::vector<catalog::RunRow>& rows) {
  std::map<std::string, const catalog::RunRow*> by_id;
  for (const catalog::RunRow& row : rows)
    by_id[row.id] = &row;
  std::map<std::size_t, const catalog::RunRow*> points;
  for (const home::StudyFiles::Run& run : begun) {
    const auto found = by_id.find(run.run_id);
    if (found == by_id.end()) continue;
    const catalog::RunRow*& kept = points[run.point];
    if (kept == nullptr || kept->state != RunState::ok) kept = found->second;
  }
  return points;
}

ordered_json metrics_json(const std::vector<catalog::RunMetric>& metrics) {
  ordered_json all = ordered_json::array();
  std::vector<std::string> known;
  const auto add = [&](bool directed) {
    for (const catalog::RunMetric& metric : metrics) {
      const std::string name = metric.stream + "/" + metric.name;
      const bool is_directed = !metric.performance && metric.better != spec::Better::none;
      const bool is_new = std::ranges::find(known, name) == known.end();
      if (is_directed != directed || !is_new || known.size() == most_study_metrics) continue;
      known.push_back(name);
      all.push_back({{"name", name},
                     {"unit", metric.unit},
                     {"better", spec::to_string(metric.better)},
                     {"performance", metric.performance}});
    }
  };
  // What the study is judged by comes first.
  add(true);
  add(false);
  return all;
}

ordered_json point_of(const spec::StudyPoint& asked, const catalog::RunRow* row) {
  ordered_json point{{"set", asked.set}, {"repetition", asked.repetition}};
  if (asked.seed) point["seed"] = *asked.seed;
  point["state"] = row == nullptr ? "not run" : std::string(spec::to_string(row->state));
  if (row == nullptr) return point;
  point["run"] = row->id;
  point["node"] = row->node;
  point["wall_s"] = row->wall_s;
  point["message"] = row->message;
  point["values"] = ordered_json::object();
  return point;
}

}  // namespace

std::string studies_json(ViewState& state) {
  const std::lock_guard lock(state.mutex());
  state.under_way().refresh({});  // with the catalog
  const catalog::RunFacets facets(state.parts().folders.catalog());
  const auto folder = state.parts().folders.studies();
  std::vector<std::string> ids = home::study_ids(folder);
  const std::size_t all = ids.size();
  if (ids.size() > most_studies) ids.erase(ids.begin(), ids.end() - most_studies);
  std::ranges::reverse(ids);
  ordered_json studies = ordered_json::array();
  for (const std::string& id : ids) {
    state.budget().charge(1);
    try {
      const spec::StudyPlan plan = home::StudyFiles(folder / id).read_plan();
      studies.push_back(
          {{"study", id},
           {"recipe", plan.recipe_name},
           {"created", plan.created},
           {"points", plan.points.size()},
           {"states", states_of(facets, state.under_way(), id, state.clock().now())}});
    } catch (const base::Error& error) {
      studies.push_back({{"study", id}, {"problem", error.what()}});
    }
  }
  return base::compact_json({{"schema", 1}, {"all", all}, {"studies", std::move(studies)}});
}

std::string study_json(ViewState& state, const std::string& id) {
  const std::lock_guard lock(state.mutex());
  const catalog::Catalog& catalog = state.catalog();
  const auto folder = state.parts().folders.studies();
  const std::vector<std::string> ids = home::study_ids(folder);
  if (std::ranges::find(ids, id) == ids.end()) {
    throw base::Error(base::ErrorKind::not_found,
                      "'" + base::printable(id) + "': no study is called that");
  }
  state.budget().charge(4);
  const home::StudyFiles files(folder / id);
  const spec::StudyPlan plan = files.read_plan();
  const auto begun = files.runs();
  std::vector<catalog::RunRow> rows = catalog.runs(0, "study=" + id, state.clock().now());
  state.under_way().refresh(rows);
  for (catalog::RunRow& row : rows)
    row.state = state.under_way().state_of(row);
  const auto by_point = runs_by_point(begun, rows);
  std::vector<catalog::RunRow> shown;
  std::vector<std::size_t> point_of_shown;
  ordered_json points = ordered_json::array();
  std::size_t open = 0;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const auto found = by_point.find(i);
    const catalog::RunRow* const row = found == by_point.end() ? nullptr : found->second;
    points.push_back(point_of(plan.points[i], row));
    if (row == nullptr || !spec::is_final(row->state)) ++open;
    if (row == nullptr) continue;
    shown.push_back(*row);
    point_of_shown.push_back(i);
  }
  const std::vector<catalog::RunMetric> metrics = state.catalog().metrics_of(shown);
  for (const catalog::RunMetric& metric : metrics) {
    const double value = metric.performance ? metric.median : metric.last;
    points[point_of_shown[metric.run]]["values"][metric.stream + "/" + metric.name] =
        base::json_number(value);
  }
  return base::compact_json({{"schema", 1},
                             {"study", id},
                             {"recipe", plan.recipe_name},
                             {"created", plan.created},
                             {"command", plan.command},
                             {"varied", planning::varied_parameters(plan.points)},
                             {"open", open},
                             {"driven", files.has_other_driver()},
                             {"metrics", metrics_json(metrics)},
                             {"points", std::move(points)}});
}

}  // namespace sabath::live

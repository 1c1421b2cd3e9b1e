#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/live/answers.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;
using spec::RunState;

ordered_json row_json(const catalog::RunRow& row) {
  return {{"id", row.id},
          {"recipe", row.recipe},
          {"state", spec::to_string(row.state)},
          {"created", row.created},
          {"wall_s", row.wall_s},
          {"node", row.node},
          {"seed", row.seed},
          {"tags", row.tags},
          {"archived", home::is_archived(row.directory)},
          {"directory", row.directory}};
}

ordered_json head_json(const analysis::StudyOutcome& outcome) {
  return {{"study", outcome.plan.study_id},
          {"recipe", outcome.plan.recipe_name},
          {"created", outcome.plan.created},
          {"directory", outcome.directory.string()},
          {"points", outcome.points.size()},
          {"ok", outcome.count(RunState::ok)},
          {"failed", outcome.count(RunState::failed)},
          {"stopped", outcome.count(RunState::stopped)},
          {"open", outcome.open()},
          {"count", spec::to_json(spec::count_runs(analysis::why_not_counted(outcome)))},
          {"command", outcome.plan.command}};
}

}  // namespace

std::string state_word(const analysis::PointOutcome& point) {
  return point.run ? std::string(spec::to_string(point.run->state)) : std::string();
}

nlohmann::ordered_json point_json(const spec::StudyPoint& point) {
  ordered_json json = {{"set", point.set}, {"repetition", point.repetition}};
  if (point.seed) json["seed"] = *point.seed;
  return json;
}

std::string json_answer(const std::vector<catalog::RunRow>& rows) {
  ordered_json runs = ordered_json::array();
  for (const catalog::RunRow& row : rows)
    runs.push_back(row_json(row));
  return base::pretty_json({{"schema", 1}, {"runs", std::move(runs)}});
}

std::string json_answer(const std::vector<catalog::RunRow>& rows,
                        const std::vector<std::string>& reasons,
                        const spec::RunCount& count,
                        const std::vector<catalog::RunColumn>& columns) {
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ordered_json& run = runs.emplace_back(row_json(rows[i]));
    run["counts"] = reasons[i].empty();
    if (!reasons[i].empty()) run["left_out"] = reasons[i];
    for (const catalog::RunColumn& column : columns) {
      ordered_json& value = run["columns"][column.key];
      if (column.kind == catalog::RunColumn::Kind::text) {
        value = column.texts[i];
      } else if (!std::isnan(column.numbers[i])) {  // else null: it has none
        value = base::json_number(column.numbers[i]);
      }
    }
  }
  return base::pretty_json(
      {{"schema", 1}, {"runs", std::move(runs)}, {"count", spec::to_json(count)}});
}

std::string json_answer(const std::vector<catalog::DocumentRow>& rows) {
  ordered_json documents = ordered_json::array();
  for (const catalog::DocumentRow& row : rows) {
    documents.push_back({{"kind", row.kind},
                         {"name", row.name},
                         {"version", row.version},
                         {"title", row.title},
                         {"path", row.path}});
  }
  return base::pretty_json({{"schema", 1}, {"documents", std::move(documents)}});
}

std::string json_answer(const spec::RunRecord& record,
                        const spec::WholeSummaries& whole,
                        const std::vector<home::RunStatement>& said) {
  nlohmann::ordered_json json = spec::to_json(record);
  for (std::size_t i = 0; i < record.metrics.size(); ++i) {
    const auto found = whole.find(record.metrics[i].stream + "/" + record.metrics[i].name);
    if (found == whole.end()) continue;
    const spec::WholeValues& values = found->second;
    for (const auto& [key, digits] : {std::pair("first", &values.first),
                                      std::pair("last", &values.last),
                                      std::pair("min", &values.min),
                                      std::pair("max", &values.max)}) {
      if (*digits) json["metrics"][i]["whole"][key] = **digits;
    }
  }
  for (const home::RunStatement& one : said) {
    using Kind = home::RunStatement::Kind;
    const char* const kind = one.kind == Kind::note  ? "note"
                             : one.kind == Kind::tag ? "tag"
                                                     : "untag";
    json["said"].push_back({{"at", one.at}, {"by", one.by}, {kind, base::redact(one.text)}});
  }
  return base::pretty_json(json);
}

std::string json_answer(const analysis::StudyOutcome& outcome) {
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < outcome.points.size(); ++i) {
    ordered_json run = point_json(outcome.plan.points[i]);
    run["point"] = i;
    run["tries"] = outcome.points[i].runs;
    run["state"] = state_word(outcome.points[i]);
    if (const auto& newest = outcome.points[i].run) {
      run["id"] = newest->run_id;
      run["message"] = newest->message;
      run["directory"] = newest->directory.string();
      run["record"] = (newest->directory / "record.json").string();
    }
    runs.push_back(std::move(run));
  }
  ordered_json answer = {{"schema", 1}};
  answer.update(head_json(outcome));
  answer["runs"] = std::move(runs);
  return base::pretty_json(answer);
}

std::string json_answer(const std::vector<analysis::StudyOutcome>& studies) {
  ordered_json all = ordered_json::array();
  for (const analysis::StudyOutcome& outcome : studies)
    all.push_back(head_json(outcome));
  return base::pretty_json({{"schema", 1}, {"studies", all}});
}

std::size_t not_run(const WatchedStudy& study, const std::vector<batch::WatchedRun>& runs) {
  const auto begun =
      static_cast<std::size_t>(std::ranges::count(runs, study.id, &batch::WatchedRun::study));
  return study.points > begun ? study.points - begun : 0;
}

std::string status_json(const std::vector<batch::WatchedRun>& runs, const WatchedStudies& studies) {
  ordered_json rows = ordered_json::array();
  ordered_json counts = ordered_json::object();
  for (const batch::WatchedRun& run : runs) {
    const std::string state(spec::to_string(run.state));
    counts[state] = counts.value(state, 0) + 1;
    rows.push_back({{"id", run.run_id},
                    {"study", run.study},
                    {"state", state},
                    {"goes_on", run.goes_on()},
                    {"detail", run.detail},
                    {"directory", run.directory.string()}});
  }
  ordered_json whole = ordered_json::array();
  std::size_t all_left = 0;
  for (const WatchedStudy& study : studies) {
    const std::size_t left = not_run(study, runs);
    all_left += left;
    whole.push_back({{"id", study.id},
                     {"points", study.points},
                     {"not_run", left},
                     {"goes_on", study.is_driven}});
  }
  if (all_left > 0) counts["not_run"] = all_left;
  return base::pretty_json({{"schema", 1}, {"counts", counts}, {"studies", whole}, {"runs", rows}});
}

}  // namespace sabath::live

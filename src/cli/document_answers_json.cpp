#include "answers.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {

std::string json_answer(const std::vector<sharing::MadeDocument>& made) {
  nlohmann::ordered_json json{{"schema", 1}, {"documents", nlohmann::ordered_json::array()}};
  for (const sharing::MadeDocument& one : made) {
    json["documents"].push_back({{"kind", one.kind},
                                 {"name", one.name},
                                 {"version", one.version},
                                 {"path", one.path.string()},
                                 {"was_there", one.was_there},
                                 {"notes", one.notes},
                                 {"same_as", one.same_as},
                                 {"document", nlohmann::ordered_json::parse(one.text)}});
  }
  return base::pretty_json(json);
}

std::string json_answer(const std::vector<sharing::Validation>& answers) {
  nlohmann::ordered_json json{{"schema", 1}, {"files", nlohmann::ordered_json::array()}};
  for (const sharing::Validation& one : answers) {
    json["files"].push_back({{"file", one.place.string()},
                             {"kind", one.kind},
                             {"valid", one.problem.empty()},
                             {"problem", one.problem},
                             {"wrong_digest", one.has_wrong_digest},
                             {"notes", one.notes}});
  }
  return base::pretty_json(json);
}

std::string json_answer(const std::vector<UsedDocument>& rows) {
  nlohmann::ordered_json json{{"schema", 1}, {"documents", nlohmann::ordered_json::array()}};
  for (const UsedDocument& one : rows) {
    json["documents"].push_back({{"kind", one.row.kind},
                                 {"name", one.row.name},
                                 {"version", one.row.version},
                                 {"title", one.row.title},
                                 {"path", one.row.path}});
    if (one.uses) json["documents"].back()["runs"] = *one.uses;
  }
  return base::pretty_json(json);
}

std::string json_answer(const std::vector<FairReport>& reports) {
  nlohmann::ordered_json json{{"schema", 1}, {"assets", nlohmann::ordered_json::array()}};
  for (const FairReport& report : reports) {
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
    for (const exchange::FairAnswer& one : report.answers)
      answers.push_back({{"metric", one.metric},
                         {"question", one.question},
                         {"answer", spec::to_string(one.state)},
                         {"remedy", one.remedy}});
    json["assets"].push_back({{"name", report.asset}, {"answers", std::move(answers)}});
  }
  return base::pretty_json(json);
}

std::string json_answer(const sharing::ImportedRun& run) {
  return base::pretty_json({{"schema", 1},
                            {"run", run.run_id},
                            {"directory", run.directory.string()},
                            {"digest", run.digest},
                            {"was_there", run.was_there},
                            {"unlisted", run.unlisted}});
}

std::string json_answer(const sharing::ImportedGroup& group) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const sharing::ImportedRun& run : group.runs)
    runs.push_back({{"run", run.run_id},
                    {"directory", run.directory.string()},
                    {"digest", run.digest},
                    {"was_there", run.was_there}});
  return base::pretty_json({{"schema", 1},
                            {"name", group.name},
                            {"digest", group.digest},
                            {"runs", std::move(runs)},
                            {"documents", group.documents.string()},
                            {"unlisted", group.unlisted}});
}

std::string json_answer(const sharing::CrateReport& report) {
  return base::pretty_json({{"schema", 1},
                            {"run", report.run_id},
                            {"runs", report.runs},
                            {"path", report.path.string()},
                            {"digest", report.digest},
                            {"members", report.members},
                            {"bytes", report.bytes},
                            {"left_out", report.left_out},
                            {"users", report.users},
                            {"hosts", report.hosts},
                            {"paths", report.paths},
                            {"not_scanned", report.not_scanned}});
}

std::string json_answer(const serve::ServerRecord& record) {
  return base::pretty_json({{"schema", 1},
                            {"url", record.url},
                            {"socket", record.socket},
                            {"token", record.token},
                            {"pid", record.process.pid}});
}

}  // namespace sabath::cli

#include "answers.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/redact.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {
namespace {

using nlohmann::ordered_json;

template <class Rows, class Convert>
std::string list_answer(const char* key, const Rows& rows, Convert&& convert) {
  ordered_json items = ordered_json::array();
  for (const auto& row : rows)
    items.push_back(convert(row));
  return base::pretty_json({{"schema", 1}, {key, items}});
}

ordered_json row_json(const catalog::RunRow& row) {
  return {{"id", row.id},
          {"recipe", row.recipe},
          {"state", spec::to_string(row.state)},
          {"created", row.created},
          {"wall_s", row.wall_s},
          {"node", row.node},
          {"seed", row.seed},
          {"tags", row.tags},
          {"directory", row.directory}};
}

ordered_json file_json(const assets::FetchedFile& file) {
  return {{"path", file.path},
          {"digest", file.object.digest.text()},
          {"size", file.object.size_bytes},
          {"object", file.object.path.string()},
          {"was_there", file.was_there},
          {"source", file.source},
          {"transferred", file.transferred},
          {"linked", file.linked}};
}

ordered_json outcome_json(const execution::RunOutcome& outcome) {
  return {{"id", outcome.run_id},
          {"state", spec::to_string(outcome.state)},
          {"message", outcome.message},
          {"directory", outcome.directory.string()},
          {"record", (outcome.directory / "record.json").string()}};
}

ordered_json entry_json(const env::EnvironmentEntry& entry) {
  return {{"name", entry.lock.name},
          {"kind", spec::to_string(entry.lock.kind)},
          {"key", entry.lock.key.hex},
          {"state", entry.state},
          {"prefix", entry.prefix.string()},
          {"log", entry.log.string()},
          {"built", entry.built},
          {"build_s", entry.build_s},
          {"problem", entry.problem},
          {"drift", entry.drift},
          {"users", entry.users},
          {"facts", entry.lock.facts}};
}

std::string_view kind_name(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::usage:
      return "usage";
    case base::ErrorKind::not_found:
      return "not_found";
    case base::ErrorKind::integrity:
      return "integrity";
    case base::ErrorKind::transfer:
      return "transfer";
    case base::ErrorKind::environment:
      return "environment";
    case base::ErrorKind::launch:
      return "launch";
    case base::ErrorKind::catalog:
      return "catalog";
    case base::ErrorKind::storage:
      return "storage";
    case base::ErrorKind::access:
      return "access";
    case base::ErrorKind::interrupted:
      return "interrupted";
    case base::ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

ordered_json error_fields(const base::Error& error) {
  return {{"kind", kind_name(error.kind())},
          {"message", base::redact(error.what())},
          {"hint", base::redact(error.hint())}};
}

}  // namespace

std::string json_answer(const std::vector<catalog::RunRow>& rows) {
  return list_answer("runs", rows, row_json);
}

std::string json_answer(const std::vector<catalog::RunRow>& rows,
                        const std::vector<std::string>& reasons,
                        const spec::RunCount& count) {
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    runs.push_back(row_json(rows[i]));
    runs.back()["counts"] = reasons[i].empty();
    if (!reasons[i].empty()) runs.back()["left_out"] = reasons[i];
  }
  return base::pretty_json(
      {{"schema", 1}, {"runs", std::move(runs)}, {"count", spec::to_json(count)}});
}

std::string json_answer(const std::vector<catalog::DocumentRow>& rows) {
  return list_answer("documents", rows, [](const catalog::DocumentRow& row) {
    return ordered_json{{"kind", row.kind},
                        {"name", row.name},
                        {"version", row.version},
                        {"title", row.title},
                        {"path", row.path}};
  });
}

std::string json_answer(const std::vector<env::EnvironmentEntry>& entries) {
  return list_answer("environments", entries, entry_json);
}

std::string json_answer(const std::vector<EnvironmentReport>& reports) {
  return list_answer("environments", reports, [](const EnvironmentReport& report) {
    ordered_json json = entry_json(report.entry);
    json["files"] = report.entry.size.files;
    json["disk_bytes"] = report.entry.size.disk_bytes;
    json["present"] = report.entry.present;
    json["recipes"] = report.recipes;
    json["runs"] = report.runs;
    return json;
  });
}

std::string json_differences(const std::vector<std::string>& differences) {
  return base::pretty_json({{"schema", 1}, {"differences", differences}});
}

std::string json_result_line(const std::vector<assets::FetchedAsset>& assets,
                             const std::vector<FailedFetch>& failed,
                             const std::optional<execution::RunOutcome>& applied) {
  ordered_json fetched = ordered_json::array();
  for (const assets::FetchedAsset& asset : assets) {
    ordered_json files = ordered_json::array();
    for (const assets::FetchedFile& file : asset.files)
      files.push_back(file_json(file));
    fetched.push_back({{"name", asset.name},
                       {"version", asset.version},
                       {"digest", asset.digest.hex.empty() ? "" : asset.digest.text()},
                       {"path", asset.path.string()},
                       {"made_by_run", asset.made_by_run},
                       {"made_on_host", asset.made_on_host},
                       {"files", files}});
  }
  ordered_json result = {{"type", "result"}, {"schema", 1}, {"fetched", fetched}};
  for (const auto& [name, error] : failed) {
    ordered_json one = {{"name", name}};
    one.update(error_fields(error));
    result["failed"].push_back(std::move(one));
  }
  if (applied) result["applied"] = outcome_json(*applied);
  return result.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string json_answer(const std::vector<execution::RunOutcome>& outcomes) {
  return list_answer("runs", outcomes, outcome_json);
}

std::string json_answer(const std::vector<Check>& checks) {
  return list_answer("checks", checks, [](const Check& check) {
    return ordered_json{{"what", check.what},
                        {"state", check.state},
                        {"detail", check.detail},
                        {"remedy", check.remedy}};
  });
}

std::vector<Check> parse_checks(const std::string& text, const std::string& origin) {
  std::vector<Check> checks;
  try {
    const nlohmann::json document = nlohmann::json::parse(text);
    for (const auto& row : document.at("checks")) {
      const auto word = [&](const char* key) { return row.at(key).get<std::string>(); };
      checks.push_back({word("what"), word("state"), word("detail"), word("remedy")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw base::Error(base::ErrorKind::launch, origin + ": " + error.what());
  }
  return checks;
}

std::string json_answer(const catalog::CatalogStats& stats) {
  return base::pretty_json({{"schema", 1},
                            {"schema_version", stats.schema_version},
                            {"runs", stats.runs},
                            {"metrics", stats.metrics},
                            {"documents", stats.documents},
                            {"size_bytes", stats.size_bytes},
                            {"sqlite", stats.sqlite_version}});
}

std::string json_answer(const spec::Collection& collection) {
  return base::pretty_json(spec::to_json(collection));
}

std::string json_answer(const spec::Comparison& comparison) {
  return base::pretty_json(spec::to_json(comparison));
}

std::string json_answer(const spec::GroupComparison& comparison) {
  return base::pretty_json(spec::to_json(comparison));
}

std::string json_answer(const spec::Explanation& explanation) {
  return base::pretty_json(spec::to_json(explanation));
}

std::string json_answer(const app::ImportReport& report) {
  return base::pretty_json({{"schema", 1},
                            {"id", report.id},
                            {"rows", report.rows},
                            {"imported", report.imported},
                            {"present", report.present},
                            {"missing", report.missing},
                            {"selection", "tag=import:" + report.id}});
}

std::string json_answer(const WrittenReport& report) {
  return base::pretty_json({{"schema", 1},
                            {"file", report.file},
                            {"format", report.format},
                            {"runs", report.runs.all},
                            {"count", spec::to_json(report.runs)},
                            {"size_bytes", report.size_bytes},
                            {"notes", report.notes}});
}

std::string json_answer(const spec::HostFacts& facts) {
  return base::pretty_json(spec::to_json(facts));
}

std::string json_answer(const spec::Asset& asset) {
  return base::pretty_json(spec::to_json(asset));
}

std::string json_answer(const spec::BuiltEnvironment& environment) {
  return base::pretty_json(spec::to_json(environment));
}

std::string json_answer(const spec::PackageLock& lock) {
  return base::pretty_json(spec::to_json(lock));
}

std::string json_answer(const std::vector<env::PinnedFile>& files) {
  return list_answer("files", files, [](const env::PinnedFile& file) {
    return ordered_json{
        {"file", file.name}, {"digest", file.digest.text()}, {"package", file.what}};
  });
}

std::string json_answer(const std::vector<env::PrefixImage>& images) {
  return list_answer("images", images, [](const env::PrefixImage& image) {
    return ordered_json{{"layer", image.layer},
                        {"prefix", image.prefix.string()},
                        {"image", image.path.string()},
                        {"digest", image.digest.text()},
                        {"size_bytes", image.size_bytes}};
  });
}

std::string json_answer(const spec::EnvironmentLock& lock) {
  return base::pretty_json(spec::to_json(lock));
}

std::string json_answer(const spec::RunRecord& record, const spec::WholeSummaries& whole) {
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
  return base::pretty_json(json);
}

std::string json_error(const base::Error& error) {
  return base::pretty_json({{"error", error_fields(error)}});
}

}  // namespace sabath::cli

#include "answers.hpp"
#include "exit_status.hpp"
#include "log.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>
#include <sabath/spec/package_lock.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <mutex>

namespace sabath::cli {
namespace {

using nlohmann::ordered_json;

template <class Rows, class Convert>
ordered_json array_of(const Rows& rows, Convert&& convert) {
  ordered_json items = ordered_json::array();
  for (const auto& row : rows)
    items.push_back(convert(row));
  return items;
}

template <class Rows, class Convert>
std::string list_answer(const char* key, const Rows& rows, Convert&& convert) {
  return base::pretty_json({{"schema", 1}, {key, array_of(rows, convert)}});
}

const std::vector<std::string>& names_at(
    const std::map<base::Digest, std::vector<std::string>>& names, const base::Digest& digest) {
  static const std::vector<std::string> none;
  const auto found = names.find(digest);
  return found == names.end() ? none : found->second;
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

ordered_json error_fields(const base::Error& error) {
  return {{"kind", name_of(error.kind())},
          {"message", base::redact(error.what())},
          {"hint", base::redact(error.hint())}};
}

constexpr std::chrono::milliseconds between(500);

/// Names need not be UTF-8.
std::string line_of(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

class EventLines final : public base::Observer {
 public:
  using Write = std::function<void(std::string_view line)>;
  EventLines(Write write, base::Clock& clock) : write_(std::move(write)), clock_(clock) {}

  void note(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    log_event("note", base::printable(text));
    write_(line_of({{"type", "note"}, {"text", base::redact(text)}}));
  }

  void warn(std::string_view text, std::string_view hint) override {
    const std::lock_guard lock(mutex_);
    log_event("warning", base::printable(text));
    write_(
        line_of({{"type", "warning"}, {"text", base::redact(text)}, {"hint", base::redact(hint)}}));
  }

  void progress(const base::Progress& progress) override {
    const std::lock_guard lock(mutex_);
    const base::SteadyTime now = clock_.steady();
    const auto [reported, is_first] = reported_.try_emplace(progress.task, now);
    if (!is_first && !progress.finished && now - reported->second < between) return;
    reported->second = now;
    ordered_json event = {{"type", "progress"}, {"task", progress.task}, {"done", progress.done}};
    if (progress.total) event["total"] = *progress.total;
    event["unit"] = progress.in_bytes ? "bytes" : "items";
    if (progress.connections > 0) event["connections"] = progress.connections;
    if (progress.sources > 0) event["sources"] = progress.sources;
    event["finished"] = progress.finished;
    if (progress.finished) reported_.erase(reported);
    write_(line_of(event));
  }

 private:
  Write write_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, base::SteadyTime> reported_{};
};

}  // namespace

template <class T>
std::string json_answer(const T& document) {
  return base::pretty_json(spec::to_json(document));
}

template std::string json_answer(const spec::Collection&);
template std::string json_answer(const spec::Comparison&);
template std::string json_answer(const spec::GroupComparison&);
template std::string json_answer(const spec::Ranking&);
template std::string json_answer(const spec::Explanation&);
template std::string json_answer(const spec::HostFacts&);
template std::string json_answer(const spec::Asset&);
template std::string json_answer(const spec::BuiltEnvironment&);
template std::string json_answer(const spec::PackageLock&);
template std::string json_answer(const spec::EnvironmentLock&);
template std::string json_answer(const spec::Baseline&);
template std::string json_answer(const spec::CheckReport&);

std::string json_answer(const std::map<std::string, std::string>& selections) {
  return base::pretty_json({{"schema", 1}, {"selections", selections}});
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

std::string json_answer(const std::vector<std::string>& differences) {
  return base::pretty_json({{"schema", 1}, {"differences", differences}});
}

std::unique_ptr<base::Observer> event_lines(std::function<void(std::string_view line)> write,
                                            base::Clock& clock) {
  return std::make_unique<EventLines>(std::move(write), clock);
}

std::string json_result_line(const std::vector<assets::FetchedAsset>& assets,
                             const std::vector<FailedFetch>& failed,
                             const std::optional<execution::RunOutcome>& applied) {
  const ordered_json fetched = array_of(assets, [](const assets::FetchedAsset& asset) {
    return ordered_json{{"name", asset.name},
                        {"version", asset.version},
                        {"digest", asset.digest.hex.empty() ? "" : asset.digest.text()},
                        {"path", asset.path.string()},
                        {"made_by_run", asset.made_by_run},
                        {"made_on_host", asset.made_on_host},
                        {"files", array_of(asset.files, file_json)}};
  });
  ordered_json result = {{"type", "result"}, {"schema", 1}, {"fetched", fetched}};
  for (const auto& [name, error] : failed) {
    ordered_json one = {{"name", name}};
    one.update(error_fields(error));
    result["failed"].push_back(std::move(one));
  }
  if (applied) result["applied"] = outcome_json(*applied);
  return line_of(result);
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

std::string json_answer(const analysis::Proposal& proposal) {
  const auto moments = [](const spec::BaselineMetric& metric) {
    return ordered_json{{"n", metric.n},
                        {"mean", base::json_number(metric.mean)},
                        {"sd", base::json_number(metric.sd)}};
  };
  ordered_json changes = ordered_json::array();
  for (const analysis::ProposedChange& change : proposal.changes) {
    ordered_json entry{{"entry", change.entry}, {"metric", change.metric}};
    if (change.before) entry["before"] = moments(*change.before);
    if (change.after) entry["after"] = moments(*change.after);
    if (change.verdict) entry["verdict"] = to_string(*change.verdict);
    entry["reason"] = change.reason;
    changes.push_back(std::move(entry));
  }
  return base::pretty_json({{"schema", 1},
                            {"baseline", spec::to_json(proposal.baseline)},
                            {"proposed", proposal.proposed},
                            {"changes", changes},
                            {"notes", proposal.notes}});
}

std::string json_answer(const std::vector<const cache::Stored*>& stored, const CacheNames& names) {
  return list_answer("stored", stored, [&](const cache::Stored* one) {
    return ordered_json{{"kind", to_string(one->kind)},
                        {"digest", one->digest.text()},
                        {"size", one->size_bytes},
                        {"disk", one->disk_bytes},
                        {"files", one->files},
                        {"last_used", base::format_rfc3339(one->last_used)},
                        {"assets", names_at(names.assets, one->digest)},
                        {"sources", one->sources},
                        {"unpacked_from", one->unpacked_from ? one->unpacked_from->text() : ""},
                        {"pins", one->pins},
                        {"runs", names_at(names.runs, one->digest)},
                        {"made_by", one->stages},
                        {"trees", one->trees},
                        {"path", one->path.string()},
                        {"cache", one->root.string()}};
  });
}

std::string json_answer(const std::vector<UsageRow>& rows,
                        const std::map<std::string, std::uint64_t>& totals) {
  const ordered_json usage = array_of(rows, [](const UsageRow& row) {
    return ordered_json{{"cache", row.cache},
                        {"what", row.what},
                        {"name", row.name},
                        {"files", row.files},
                        {"disk", row.disk_bytes}};
  });
  const ordered_json sums = array_of(totals, [](const auto& total) {
    return ordered_json{{"cache", total.first}, {"disk", total.second}};
  });
  return base::pretty_json({{"schema", 1}, {"usage", usage}, {"totals", sums}});
}

std::string json_answer(const std::vector<cache::Pin>& pins) {
  return list_answer("pins", pins, [](const cache::Pin& pin) {
    const auto text_of = [](const base::Digest& digest) { return ordered_json(digest.text()); };
    return ordered_json{{"name", pin.name},
                        {"reason", pin.reason},
                        {"user", pin.user},
                        {"made", pin.made},
                        {"digests", array_of(pin.digests, text_of)}};
  });
}

std::string json_answer(const cache::GarbageReport& report,
                        const std::vector<home::ClearedRemoval>& cleared,
                        bool dry_run) {
  const ordered_json trash = array_of(cleared, [](const home::ClearedRemoval& one) {
    return ordered_json{{"removal", one.removal.name},
                        {"at", one.removal.at},
                        {"runs", one.removal.runs},
                        {"disk", one.use.disk_bytes},
                        {"freed", one.use.freed_bytes}};
  });
  const ordered_json removed = array_of(report.removed, [](const cache::RemovedItem& item) {
    return ordered_json{{"kind", item.kind},
                        {"name", item.name},
                        {"sources", item.sources},
                        {"disk", item.disk_bytes},
                        {"last_used", base::format_rfc3339(item.last_used)}};
  });
  const ordered_json kept = array_of(report.kept, [](const auto& one) {
    const auto& [reason, sum] = one;
    return ordered_json{{"reason", reason}, {"count", sum.count}, {"disk", sum.disk_bytes}};
  });
  return base::pretty_json({{"schema", 1},
                            {"dry_run", dry_run},
                            {"removed", removed},
                            {"trash", trash},
                            {"freed", report.freed_bytes},
                            {"before", report.before_bytes},
                            {"kept", kept}});
}

std::string json_answer(const std::vector<assets::Repaired>& repaired) {
  return list_answer("repaired", repaired, [](const assets::Repaired& one) {
    return ordered_json{{"kind", to_string(one.kind)},
                        {"digest", one.digest.text()},
                        {"ok", one.ok},
                        {"size", one.size_bytes},
                        {"transferred", one.transferred},
                        {"source", one.source},
                        {"problem", one.problem}};
  });
}

std::string json_answer(const app::ImportReport& report) {
  return base::pretty_json({{"schema", 1},
                            {"id", report.id},
                            {"rows", report.rows},
                            {"imported", report.imported},
                            {"present", report.present},
                            {"missing", report.missing},
                            {"doubts", report.doubts},
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

std::string json_answer(const CareAnswer& answer) {
  ordered_json json{{"schema", 1}, {"changed", answer.changed}, {"unchanged", answer.unchanged}};
  json["needs"] = array_of(answer.needs, [](const analysis::RunNeed& need) {
    return ordered_json{{"run", need.run}, {"why", need.why}};
  });
  if (!answer.removal.empty()) json["removal"] = answer.removal;
  json["disk"] = answer.use.disk_bytes;
  json["freed"] = answer.use.freed_bytes;
  json["dry_run"] = answer.dry_run;
  return base::pretty_json(json);
}

std::string json_answer(const std::vector<home::Removal>& removals) {
  return list_answer("removals", removals, [](const home::Removal& one) {
    return ordered_json{{"removal", one.name}, {"at", one.at}, {"by", one.by}, {"runs", one.runs}};
  });
}

std::string json_error(const base::Error& error) {
  return base::pretty_json({{"error", error_fields(error)}});
}

}  // namespace sabath::cli

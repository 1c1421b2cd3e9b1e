#include "collect_stages.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/version.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Returns the number of the newest collection; 0 without one.
int newest_in(const fs::path& folder) {
  int newest = 0;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    const auto number = base::number_in<int>(at->path().filename().native());
    newest = std::max(newest, number.value_or(0));
  }
  if (code && code != std::errc::no_such_file_or_directory)
    base::throw_errno(folder.string(), "cannot be listed", code.value());
  return newest;
}

spec::Collection read_collection(const fs::path& folder) {
  const fs::path summary = folder / "summary.json";
  return spec::parse_collection(base::read_file(summary), summary.string());
}

int number_of(const fs::path& attempt) {
  return base::leading_number<int>(attempt.filename().native()).value_or(1);
}

std::vector<collect::StageFiles> stages_of(const home::RunFiles& files,
                                           const spec::RunRecord& record) {
  const fs::path attempt = files.last_attempt();
  std::vector<collect::StageFiles> stages;
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.state == "skipped" || stage.state == "not_due") continue;
    stages.push_back({stage.name, attempt / stage.name, files.outputs(stage.name), {}});
    if (stage.earlier_attempts)
      stages.back().earlier = earlier_folders(files, number_of(attempt), stage.name);
  }
  return stages;
}

/// Gives the finished directory the next free number. Another process may take the same one.
int publish(base::TempDir& made, const fs::path& folder, spec::Collection collection) {
  for (collection.number = newest_in(folder) + 1;; ++collection.number) {
    base::write_file_atomically(made.path() / "summary.json",
                                base::pretty_json(spec::to_json(collection)));
    if (!base::rename_no_replace(made.path(), folder / std::to_string(collection.number))) continue;
    made.release();
    base::sync_directory(folder);
    return collection.number;
  }
}

}  // namespace

std::optional<CurrentRecord> read_current(const home::RunFiles& files) {
  auto record = files.read_record();
  if (!record) return std::nullopt;
  CurrentRecord current{std::move(*record), 0, {}, files.series(), {}};
  if (current.record.state == spec::RunState::imported) return current;
  const int newest = newest_in(files.collections());
  if (newest == 0) {
    current.declared =
        spec::parse_recipe(current.record.recipe_text, files.record().string()).metrics;
    return current;
  }
  const fs::path folder = files.collections() / std::to_string(newest);
  const fs::path patterns = folder / "patterns.json";
  spec::Collection collection = read_collection(folder);
  current.collection = newest;
  current.collected_at = collection.created;
  current.series = folder / "series.h5";
  current.declared = spec::parse_patterns(base::read_file(patterns), patterns.string());
  current.record.metrics = std::move(collection.metrics);
  current.record.collected = std::move(collection.collected);
  return current;
}

std::optional<spec::RunRecord> read_current_summary(const home::RunFiles& files) {
  const auto file = files.record_file();
  if (!file) return std::nullopt;
  const std::string text = base::read_file(*file);
  // Who executed a reused stage stands in the stages, which a summary leaves out.
  const bool reuses = text.find("\"reused\"") != std::string::npos;
  spec::RunRecord record = reuses ? spec::parse_run_record(text, file->string())
                                  : spec::parse_run_summary(text, file->string());
  if (const int newest = newest_in(files.collections()); newest > 0)
    record.metrics = read_collection(files.collections() / std::to_string(newest)).metrics;
  return record;
}

std::optional<CurrentMetrics> read_current_metrics(const home::RunFiles& files) {
  auto current = read_current(files);
  if (!current) return std::nullopt;
  return CurrentMetrics{std::move(current->record.run_id),
                        std::move(current->record.metrics),
                        std::move(current->series),
                        std::move(current->declared)};
}

std::vector<spec::Facet> read_facets(const home::RunFiles& files) {
  auto record = read_current_summary(files);
  return record ? std::move(record->facets) : std::vector<spec::Facet>();
}

spec::Collection collect_run(const home::RunFiles& files,
                             const std::string& patterns,
                             const std::string& origin,
                             base::Clock& clock) {
  const auto record = files.read_record();
  if (!record) {
    throw Error(ErrorKind::usage,
                files.directory().filename().string() + ": the run is not finished",
                "what a run reports is collected when it ends");
  }
  if (record->state == spec::RunState::imported) {
    throw Error(ErrorKind::usage,
                record->run_id + ": was imported from a table: there is nothing to collect from",
                "'sabath import' with other --metrics reads the table again");
  }
  const std::vector<spec::MetricSpec> declared = spec::parse_patterns(patterns, origin);
  base::make_directories(files.collections());
  base::TempDir made(files.collections(), ".new-");
  const CollectedStages found =
      collect_stages(stages_of(files, *record), declared, made.path() / "series.h5");
  spec::Collection collection;
  collection.run_id = record->run_id;
  collection.created = base::format_rfc3339(clock.now());
  collection.sabath_version = std::string(base::version());
  collection.metrics = found.metrics;
  spec::Collected collected = found.collected();
  for (const auto& [stage, extraction] : found.stages) {
    const std::string problem = found.problem(stage);
    if (!problem.empty()) throw Error(ErrorKind::usage, problem, "nothing was kept of it");
  }
  const auto missing = found.missing(declared);
  collected.notes.insert(collected.notes.end(), missing.begin(), missing.end());
  if (!collected.empty()) collection.collected = std::move(collected);
  base::write_file_atomically(made.path() / "patterns.json", patterns);
  fs::permissions(made.path(),
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec);
  collection.number = publish(made, files.collections(), collection);
  home::announce(files.directory(), home::RunEvent::finished);
  return collection;
}

void collect_like(const home::RunFiles& other, const home::RunFiles& files, base::Clock& clock) {
  const int newest = newest_in(other.collections());
  if (newest == 0) return;
  const fs::path patterns = other.collections() / std::to_string(newest) / "patterns.json";
  collect_run(files, base::read_file(patterns), patterns.string(), clock);
}

}  // namespace sabath::execution

#include "import_rows.hpp"

#include <sabath/app/import_table.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t most_doubts = 10;
constexpr std::uint64_t most_bytes = 1U << 30U;
constexpr const char* row_item = "import.row";
constexpr const char* table_item = "import.table";

void check(const ImportRequest& request) {
  if (!base::is_safe_name(request.recipe)) {
    throw Error(ErrorKind::usage,
                "--recipe '" + base::printable(request.recipe) + "': is not a name",
                "lower case letters, digits, '.', '_' and '-', such as imbalanced-mnist");
  }
  home::refuse_secrets(request.tags);
  for (const auto& [name, count] : request.counts) {
    if (std::ranges::find(request.metrics, name) != request.metrics.end()) continue;
    throw Error(ErrorKind::usage,
                "--count: '" + base::printable(name) + "' is not among the metrics",
                base::did_you_mean(name, request.metrics));
  }
  if (request.metrics.empty()) throw Error(ErrorKind::usage, "no metrics are asked for");
  std::set<std::string> seen;
  for (const auto* names : {&request.facets, &request.metrics}) {
    for (const std::string& name : *names) {
      if (seen.insert(name).second) continue;
      throw Error(ErrorKind::usage, "column '" + base::printable(name) + "' is asked for twice");
    }
  }
}

/// Equal bytes and an equal request are the same import.
std::string import_id(const ImportRequest& request, const base::Digest& table) {
  const std::string asked = base::canonical_json({{"table", table.text()},
                                                  {"recipe", request.recipe},
                                                  {"facets", request.facets},
                                                  {"metrics", request.metrics}});
  return base::sha256_of(asked).hex.substr(0, 12);
}

std::set<std::uint64_t> rows_present(const catalog::Catalog& catalog,
                                     const std::string& tag,
                                     base::WallTime now) {
  std::set<std::uint64_t> rows;
  const std::vector<catalog::RunRow> runs = catalog.select("tag=" + tag, now);
  const auto numbers = catalog.values_of(runs, row_item);
  for (const std::string& text : numbers.value_or(std::vector<std::string>{}))
    rows.insert(base::leading_number<std::uint64_t>(text).value_or(0));
  return rows;
}

spec::MetricSummary summary_of(const std::string& name, double value) {
  spec::MetricSummary metric;
  metric.stream = "imported";
  metric.name = name;
  metric.points = 1;
  metric.not_finite = std::isfinite(value) ? 0 : 1;
  metric.first = metric.last = value;
  if (std::isfinite(value)) metric.min = metric.max = metric.mean = metric.median = value;
  return metric;
}

/// Returns what all rows of an import have in common.
spec::RunRecord common_record(const ImportRequest& request, const std::string& id) {
  spec::RunRecord record;
  record.state = spec::RunState::imported;
  record.sabath_version = std::string(base::version());
  record.user = base::user_name();
  record.recipe_name = request.recipe;
  // The definition behind a table is unknown: it counts as one of its own.
  record.recipe_digest = record.recipe_definition =
      base::sha256_of("imported runs of " + request.recipe);
  record.tags = {"imported", "import:" + id};
  record.tags.insert(record.tags.end(), request.tags.begin(), request.tags.end());
  return record;
}

/// Letters in the order of rows, which tell apart runs of one second.
std::string letters_of(std::uint64_t row) {
  std::string letters(6, 'a');
  for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter, row /= 26)
    *letter = static_cast<char>('a' + row % 26);
  return letters;
}

void write_run(spec::RunRecord record,
               const ImportedRow& row,
               const base::Digest& table,
               const fs::path& runs,
               base::Clock& clock) {
  const fs::path directory =
      home::make_dated_folder(runs, record.recipe_name, 8, clock, letters_of(row.number));
  record.run_id = directory.filename().string();
  record.created = base::format_rfc3339(clock.now());
  record.message = "row " + std::to_string(row.number) + " of a table";
  if (row.seed) record.seed = {row.seed, "imported"};
  spec::Facet facet{"imported", row.facets};
  facet.items[row_item] = std::to_string(row.number);
  facet.items[table_item] = table.text();
  record.facets = {facet};
  for (const auto& [name, value] : row.metrics)
    record.metrics.push_back(summary_of(name, value));
  base::write_file_atomically(home::RunFiles(directory).record(),
                              home::record_text(record),
                              base::Durability::ordered_only);
  home::announce(runs / record.run_id, home::RunEvent::finished);
}

}  // namespace

ImportReport import_table(const ImportRequest& request,
                          const catalog::Catalog& catalog,
                          const fs::path& runs,
                          base::Clock& clock,
                          base::Observer& observer,
                          const std::stop_token& stop) {
  check(request);
  const std::string text = base::read_file(request.table, most_bytes);
  const std::vector<ImportedRow> rows =
      read_imported_rows(text, request.table, request.facets, request.metrics, request.counts);
  const base::Digest table = base::sha256_of(text);
  ImportReport report;
  report.id = import_id(request, table);
  report.rows = rows.size();
  const spec::RunRecord common = common_record(request, report.id);
  const std::set<std::uint64_t> present = rows_present(catalog, common.tags[1], clock.now());
  for (const ImportedRow& row : rows) {
    if (stop.stop_requested()) {
      throw Error(ErrorKind::interrupted,
                  "import: stopped after " + std::to_string(report.imported) + " rows",
                  "run the same command to continue");
    }
    for (const std::string& doubt : row.doubts) {
      if (++report.doubts <= most_doubts) observer.warn(request.table + doubt);
    }
    report.missing += request.metrics.size() - row.metrics.size();
    if (present.contains(row.number)) {
      ++report.present;
      continue;
    }
    write_run(common, row, table, runs, clock);
    ++report.imported;
    observer.progress({"importing rows", report.imported, rows.size(), false, false});
  }
  if (report.doubts > most_doubts)
    observer.warn(fmt::format("{}: and {} more", request.table, report.doubts - most_doubts));
  base::sync_file_system(runs);
  observer.progress({"importing rows", report.imported, report.imported, false, true});
  return report;
}

}  // namespace sabath::app

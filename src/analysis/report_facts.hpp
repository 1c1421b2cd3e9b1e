#pragma once

#include <sabath/analysis/usage_courses.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/report/report.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/stage_record.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sabath::analysis {

/// Facts of one run for a report, without its points.
struct RunFacts {
  report::ReportRun run{};  ///< without values and levels
  std::vector<spec::MetricSummary> metrics{};
  spec::WholeSummaries whole{};  ///< of the metrics
  std::vector<spec::MetricSpec> declared{};
  std::vector<spec::Facet> facets{};
  std::vector<spec::StageRecord> stages{};
  std::string recipe_text{};
  std::filesystem::path series{};
  std::vector<UsageCourse> usage{};
  std::vector<std::string> notes{};  ///< what was said of it, and what could not be read
};

/// Reads the facts of a run. Without a readable record they are those of the catalog.
RunFacts read_run_facts(const catalog::RunRow& row);

/// Identity of a quantity: name, unit, kind and judge. "train/loss" in seconds differs from that in
/// milliseconds, a median from a last value, and that from the best. A unit of "1" is none.
using MetricKey = std::tuple<std::string, std::string, bool, std::optional<std::string>>;
MetricKey key_of(const spec::MetricSummary& summary);
std::map<MetricKey, std::size_t> columns_of(const report::Report& report);

/// Sets the columns of results of all runs, in the order of declaration, others behind, and the
/// values of each run.
void fill_metrics(report::Report& report, const std::vector<RunFacts>& facts);
void fill_items(report::Report& report, const std::vector<RunFacts>& facts);
/// Sets the stages of the recipe that most runs have.
void fill_stages(report::Report& report, const std::vector<RunFacts>& facts);

/// Reads the series of the runs, and makes the charts of metrics and of used resources. Up to six
/// groups have a curve each. Notes list what cannot be read.
void fill_charts(report::Report& report, std::vector<RunFacts>& facts);

}  // namespace sabath::analysis

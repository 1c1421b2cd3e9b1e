#pragma once

#include "usage_courses.hpp"

#include <sabath/catalog/catalog.hpp>
#include <sabath/report/report.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sabath::analysis {

/// Of one run what a report is made of, without its points.
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
  std::vector<std::string> notes{};  ///< what could not be read
};

/// A run that has no record, or none that can be read, is what the catalog says of it.
RunFacts read_run_facts(const catalog::RunRow& row);

/// What makes two summaries one quantity: "train/loss" in seconds is not that in milliseconds, nor
/// a median a last value. A unit of "1" is none.
using MetricKey = std::tuple<std::string, std::string, bool>;
MetricKey key_of(const spec::MetricSummary& summary);
/// The columns of these.
std::map<MetricKey, std::size_t> columns_of(const report::Report& report);

/// The columns of results: of all runs together, as the recipe declares them, others behind; and
/// the values of each run.
void fill_metrics(report::Report& report, const std::vector<RunFacts>& facts);
void fill_items(report::Report& report, const std::vector<RunFacts>& facts);
/// Those of the recipe that most runs have.
void fill_stages(report::Report& report, const std::vector<RunFacts>& facts);

}  // namespace sabath::analysis

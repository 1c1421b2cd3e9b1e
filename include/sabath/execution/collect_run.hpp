#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/collection.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/metric.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// The newest metrics of a finished run: those of its record, or of a later collection.
struct CurrentMetrics {
  std::string run_id{};
  std::vector<spec::MetricSummary> metrics{};
  std::filesystem::path series{};
  std::vector<spec::MetricSpec> declared{};
};

/// Returns nothing while the run is not finished.
std::optional<CurrentMetrics> read_current_metrics(const home::RunFiles& files);

/// Facets of a finished run, in the order of its record.
std::vector<spec::Facet> read_facets(const home::RunFiles& files);

/// Collects the metrics of a finished run again, with `patterns` (see spec::parse_patterns), into
/// collect/<next>/: patterns.json, summary.json, series.h5. The record is not changed. Appears as a
/// whole or not at all. Throws Error{usage} where something that was written for programs cannot be
/// read; nothing is kept then.
spec::Collection collect_run(const home::RunFiles& files,
                             const std::string& patterns,
                             const std::string& origin,
                             base::Clock& clock);

/// Collects `files` with the patterns of the newest collection of `other`, where that has one, so
/// that the two can be compared.
void collect_like(const home::RunFiles& other, const home::RunFiles& files, base::Clock& clock);

}  // namespace sabath::execution

#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/collection.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// A finished run with its newest metrics: those of its record, or of a later collection.
struct CurrentRecord {
  spec::RunRecord record{};
  int collection = 0;  ///< 0: of the record itself
  std::string collected_at{};
  std::filesystem::path series{};
  std::vector<spec::MetricSpec> declared{};
};

/// Returns nothing while the run is not finished.
std::optional<CurrentRecord> read_current(const home::RunFiles& files);

/// Returns the part that spec::parse_run_summary reads.
std::optional<spec::RunRecord> read_current_summary(const home::RunFiles& files);

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

#pragma once

#include <sabath/home/run_files.hpp>
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

}  // namespace sabath::execution

#pragma once

#include <sabath/spec/metric.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath::analysis {

/// All digits of metrics whose whole numbers no double holds. Reads the series only if a summary
/// has such a large value. Throws Error{integrity} where they cannot be read.
spec::WholeSummaries whole_values_of(const std::vector<spec::MetricSummary>& metrics,
                                     const std::filesystem::path& series_file);

/// Sets the digits of one run in a column with one text a run. The column stays empty while no run
/// has any.
void set_whole(std::vector<std::string>& column,
               std::size_t runs,
               std::size_t run,
               const std::string& digits);

}  // namespace sabath::analysis

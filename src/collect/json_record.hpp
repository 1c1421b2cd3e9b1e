#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/spec/metric.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::collect {

/// What one line of a log of JSON lines, which knows nothing of sabath, says of some metrics.
struct JsonRecord {
  base::SeriesPoint where{};          ///< of the members step, epoch and time
  std::optional<double> not_whole{};  ///< a step or epoch that no point can have
  std::vector<std::pair<const spec::MetricSpec*, base::ExactNumber>> values{};
};

/// Reads the members that `wanted` have as keys: numbers, and texts that are some; a null is no
/// value. All others may be anything. Returns what is wrong with the line, or an empty text.
std::string parse_json_record(std::string_view line,
                              const std::vector<const spec::MetricSpec*>& wanted,
                              JsonRecord& result);

}  // namespace sabath::collect

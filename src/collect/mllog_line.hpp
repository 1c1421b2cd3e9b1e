#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/exact_number.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::collect {

inline constexpr std::string_view mllog_marker = ":::MLLOG";

/// One event of the logging of MLPerf (github.com/mlcommons/logging): a line has, behind any
/// prefix, ":::MLLOG " and an object with namespace, time_ms, event_type, key, value and metadata.
struct MllogEvent {
  std::string key{};
  std::string event_type{};  ///< INTERVAL_START, INTERVAL_END, POINT_IN_TIME
  std::string value{};       ///< as text: a string's, or the JSON of anything else; empty for null
  std::optional<base::ExactNumber> number{};  ///< the value, if it is a number
  /// Numbers of a value that is an object.
  std::vector<std::pair<std::string, base::ExactNumber>> members{};
  base::SeriesPoint where{};  ///< of epoch_num, step_num ... in the metadata, and of time_ms
  std::optional<double> part_epoch{};  ///< an epoch that is not whole, which no point has
  bool counts_samples = false;         ///< the step is samples_count
  std::string status{};                ///< of the metadata
  std::string file{};                  ///< of the metadata: of the code that told it
  std::int64_t line = 0;               ///< likewise; 0: not said
};

/// Nothing for a line that is no event. Else its JSON is read into `event`, and what is wrong with
/// it is returned; an empty text if nothing is.
std::optional<std::string> parse_mllog_line(std::string_view line, MllogEvent& event);

}  // namespace sabath::collect

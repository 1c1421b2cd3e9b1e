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
  base::SeriesPoint where{};    ///< of epoch_num, step_num ... in the metadata, and of time_ms
  std::string not_whole{};      ///< an epoch or step that is not whole; points cannot have it
  std::string too_long{};       ///< "value" or the member that has more digits than can be kept
  bool counts_samples = false;  ///< the step is samples_count
  std::string status{};         ///< of the metadata
  std::string file{};           ///< of the metadata: source file of the event
  std::int64_t line = 0;        ///< of the metadata: line in `file`; 0 if unknown
};

/// Reads the JSON of an event line into `event`. Returns its problem, an empty text if it has none,
/// or nothing if the line is not an event.
std::optional<std::string> parse_mllog_line(std::string_view line, MllogEvent& event);

}  // namespace sabath::collect

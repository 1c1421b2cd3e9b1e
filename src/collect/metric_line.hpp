#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/exact_number.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::collect {

/// What one line of a metrics file says.
struct MetricLine {
  base::SeriesPoint where{};           ///< step, epoch and time; its value is not used
  std::optional<double> part_epoch{};  ///< an epoch that is not whole, which no point has
  /// Names are in the line.
  std::vector<std::pair<std::string_view, base::ExactNumber>> values{};
  // What else a line may tell, rarely.
  bool has_report = false;
  std::string sample_ids{};  ///< each ended by a newline
  std::string sample_order{};
  std::vector<std::pair<std::string, std::string>> seeds{};
};

/// Reads one JSON object of numbers: {"step": 12, "epoch": 1, "loss": 0.03125}. "step", "epoch" and
/// "time" (seconds) say where; every other member is a metric: a number, NaN, Infinity, -Infinity,
/// or a string with a hexadecimal float ("0x1.8p-3") or one of those three words; a null is none of
/// them. Three members tell something else: "sample_ids" with a list of whole numbers or texts,
/// "sample_order" with a text, "seeds" with an object of whole numbers or texts. `line` is changed
/// (parsed in place). Returns what is wrong with it, or an empty text.
std::string parse_metric_line(std::string& line, MetricLine& result);

}  // namespace sabath::collect

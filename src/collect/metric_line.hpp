#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/exact_number.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::collect {

/// Content of one line of a metrics file.
struct MetricLine {
  base::SeriesPoint where{};           ///< step, epoch and time; its value is not used
  std::optional<double> part_epoch{};  ///< an epoch that is not whole; points cannot have it
  /// The names are views of the line.
  std::vector<std::pair<std::string_view, base::ExactNumber>> values{};
  // Rare members.
  bool has_report = false;
  std::string sample_ids{};  ///< each ended by a newline
  std::string sample_order{};
  std::vector<std::pair<std::string, std::string>> seeds{};
};

/// Reads one JSON object of numbers: {"step": 12, "epoch": 1, "loss": 0.03125}. "step", "epoch" and
/// "time" (seconds) locate the values. "sample_ids" is a list of whole numbers or texts,
/// "sample_order" a text, "seeds" an object of whole numbers or texts. Every other member is a
/// metric: a number, NaN, Infinity, -Infinity, or a string with a hexadecimal float ("0x1.8p-3") or
/// one of these three words; a null is skipped. Parses in place and so changes `line`.
/// Returns the problem of the line, or an empty text.
std::string parse_metric_line(std::string& line, MetricLine& result);

}  // namespace sabath::collect

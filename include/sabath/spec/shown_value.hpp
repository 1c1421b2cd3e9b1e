#pragma once

#include <sabath/spec/metric.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// The one value of a metric that stands for a run in every table and test. It is the median after
/// the warm-up for performance, and the value that a result is judged by. Nothing where the metric
/// has no point, or no median.
std::optional<double> shown_value(bool performance, double judged, double median);
std::optional<double> shown_value(const MetricSummary& metric);
/// The value that a result is judged by.
double judged_value(const MetricSummary& metric);

/// How a table labels that value: "train/loss [1/s]" for a last value, "val_mse, best" for another
/// one that is judged, "epoch_ms [ms], median" for a median. A unit of "1" is not printed.
std::string shown_title(const std::string& name,
                        const std::string& unit,
                        bool performance,
                        const std::optional<std::string>& judge = {});

/// "last", "best", "mean of last 5": a label of MetricSummary::judge in a sentence.
std::string judge_text(const std::optional<std::string>& judge);

/// The text of a value that is there and empty, such as a list without items.
inline constexpr std::string_view empty_value = "(empty)";

/// A value as tables and sentences show it.
inline std::string shown_text(const std::string& value) {
  return value.empty() ? std::string(empty_value) : value;
}

/// "dropout 0, lr 0.25": a group of runs by the keys that it is made by. The sides of two
/// selections are "A" and "B"; without keys it is "all runs".
std::string group_name(const std::vector<std::string>& by, const std::vector<std::string>& levels);

}  // namespace sabath::spec

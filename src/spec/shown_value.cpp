#include <sabath/spec/shown_value.hpp>

#include <cmath>

namespace sabath::spec {

std::optional<double> shown_value(bool performance, double judged, double median) {
  if (!performance) return judged;
  if (std::isnan(median)) return std::nullopt;  // no point after the warm-up
  return median;
}

std::optional<double> shown_value(const MetricSummary& metric) {
  if (metric.points == 0) return std::nullopt;
  return shown_value(metric.performance, judged_value(metric), metric.median);
}

double judged_value(const MetricSummary& metric) {
  return metric.judged.value_or(metric.last);
}

std::string shown_title(const std::string& name,
                        const std::string& unit,
                        bool performance,
                        const std::optional<std::string>& judge) {
  std::string title = name;
  if (!unit.empty() && unit != "1") title += " [" + unit + "]";
  if (performance) return title + ", median";
  return judge ? title + ", " + *judge : title;
}

std::string judge_text(const std::optional<std::string>& judge) {
  return judge.value_or("last");
}

std::string group_name(const std::vector<std::string>& by, const std::vector<std::string>& levels) {
  const bool are_sides = by.size() == 1 && by.front() == "side";
  std::string name;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) name += ", ";
    if (!are_sides && i < by.size()) name += by[i] + " ";
    name += levels[i].empty() ? "(none)" : levels[i];
  }
  return name.empty() ? "all runs" : name;
}

}  // namespace sabath::spec

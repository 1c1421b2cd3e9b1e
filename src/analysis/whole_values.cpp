#include <sabath/analysis/whole_values.hpp>
#include <sabath/arrays/series_file.hpp>

#include <algorithm>
#include <cmath>

namespace sabath::analysis {
namespace {

bool may_be_rounded(const spec::MetricSummary& metric) {
  const auto is_large = [](double value) {
    return std::isfinite(value) && std::abs(value) >= base::first_inexact_whole;
  };
  return is_large(metric.first) || is_large(metric.last) || is_large(metric.min) ||
         is_large(metric.max);
}

}  // namespace

spec::WholeSummaries whole_values_of(const std::vector<spec::MetricSummary>& metrics,
                                     const std::filesystem::path& series_file) {
  std::error_code code;
  if (std::ranges::none_of(metrics, may_be_rounded) ||
      !std::filesystem::exists(series_file, code)) {
    return {};
  }
  spec::SeriesRests rests;
  const std::vector<spec::Series> series = arrays::read_series(series_file, &rests);
  return spec::whole_summaries(series, rests);
}

void set_whole(std::vector<std::string>& column,
               std::size_t runs,
               std::size_t run,
               const std::string& digits) {
  if (digits.empty()) return;
  column.resize(runs);
  column[run] = digits;
}

}  // namespace sabath::analysis

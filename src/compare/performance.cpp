#include "performance.hpp"

#include <sabath/compare/sample.hpp>

#include <cmath>
#include <map>
#include <set>

namespace sabath::compare {
namespace {

std::vector<double> after_warmup(const spec::Series& series, int warmup) {
  std::map<std::int32_t, int> seen;
  std::vector<double> values;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (seen[series.rank[i]]++ < warmup || !std::isfinite(series.value[i])) continue;
    values.push_back(series.value[i]);
  }
  return values;
}

const spec::Series* find(const Side& side, const std::string& stream, const std::string& name) {
  for (const spec::Series& series : side.series) {
    if (series.stream == stream && series.name == name) return &series;
  }
  return nullptr;
}

std::vector<double> values_of(const Side& side,
                              const std::string& stream,
                              const spec::MetricSpec& metric) {
  const spec::Series* series = find(side, stream, metric.name);
  return series == nullptr ? std::vector<double>{} : after_warmup(*series, metric.warmup);
}

}  // namespace

std::vector<spec::PerformanceRow> performance_rows(const Side& a,
                                                   const Side& b,
                                                   const Rules& rules) {
  std::vector<spec::PerformanceRow> rows;
  for (const spec::MetricSpec& metric : rules.metrics) {
    if (!metric.performance) continue;
    std::set<std::string> streams;
    for (const auto* side : {&a, &b}) {
      for (const spec::Series& series : side->series) {
        if (series.name == metric.name) streams.insert(series.stream);
      }
    }
    for (const std::string& stream : streams) {
      const std::vector<double> of_a = values_of(a, stream, metric);
      const std::vector<double> of_b = values_of(b, stream, metric);
      rows.push_back({stream + "/" + metric.name,
                      metric.unit,
                      median(of_a),
                      median(of_b),
                      of_a.size(),
                      of_b.size()});
    }
  }
  return rows;
}

}  // namespace sabath::compare

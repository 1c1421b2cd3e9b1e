#pragma once

#include <sabath/base/series_sink.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::test {

/// Keeps every point under "stream/metric".
class MemorySink final : public base::SeriesSink {
 public:
  void add(std::string_view stream,
           std::string_view metric,
           const base::SeriesPoint& point) override {
    points[std::string(stream) + "/" + std::string(metric)].push_back(point);
  }
  std::map<std::string, std::vector<base::SeriesPoint>> points{};
};

}  // namespace sabath::test

#pragma once

#include <sabath/base/series_sink.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::test {

/// Keeps every point under "stream/metric".
class MemorySink final : public base::SeriesSink {
 public:
  base::SeriesId open(std::string_view stream, std::string_view metric) override {
    names_.push_back(std::string(stream) + "/" + std::string(metric));
    return static_cast<base::SeriesId>(names_.size() - 1);
  }
  void add(base::SeriesId series, const base::SeriesPoint& point) override {
    points[names_.at(static_cast<std::size_t>(series))].push_back(point);
  }
  std::map<std::string, std::vector<base::SeriesPoint>> points{};

 private:
  std::vector<std::string> names_{};
};

}  // namespace sabath::test

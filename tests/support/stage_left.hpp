#pragma once

#include "support/memory_sink.hpp"
#include "support/temp_home.hpp"

#include <sabath/collect/collect.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::test {

/// The folders of a stage "train" that has ended, and what is collected of them.
class StageLeft {
 public:
  StageLeft& file(const std::string& path, const std::string& text) {
    const auto target = home_ / path;
    base::make_directories(target.parent_path());
    base::write_file_atomically(target, text, base::Durability::ordered_only);
    return *this;
  }
  StageLeft& out(const std::string& text) { return file("own/stdout.log", text); }

  /// Everything that `metrics` declare; points are under "train/<name>".
  collect::Extraction collect(const std::vector<spec::MetricSpec>& metrics) {
    sink.points.clear();
    return collect::extract_all({"train", home_ / "own", home_ / "outputs"}, metrics, sink);
  }
  std::filesystem::path path() const { return home_.path(); }
  /// The values of metric `name`, in the order in which they came.
  std::vector<double> values(const std::string& name) const {
    std::vector<double> result;
    const auto found = sink.points.find("train/" + name);
    if (found == sink.points.end()) return result;
    for (const base::SeriesPoint& point : found->second)
      result.push_back(point.value);
    return result;
  }
  const base::SeriesPoint& point(const std::string& name, std::size_t index) const {
    return sink.points.at("train/" + name).at(index);
  }

  MemorySink sink{};

 private:
  TempHome home_;
};

inline spec::MetricSpec metric_from(const std::string& name,
                                    spec::SourceKind kind,
                                    const std::string& pattern = {},
                                    const std::string& file = {},
                                    const std::string& key = {}) {
  spec::MetricSpec metric;
  metric.name = name;
  metric.from = {kind, pattern, file, key, {}};
  return metric;
}

}  // namespace sabath::test

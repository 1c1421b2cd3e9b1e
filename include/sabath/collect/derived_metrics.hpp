#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// A sink that passes points on to `next`, and adds metrics that follow from their times
/// (spec::with_derived): time per epoch and step, steps or samples per second, time to a target.
/// Without times there are none. Memory does not grow with the points.
class DerivedMetrics final : public base::SeriesSink {
 public:
  /// `declared` must outlive this.
  DerivedMetrics(const std::vector<spec::MetricSpec>& declared, base::SeriesSink& next);
  ~DerivedMetrics() override;
  DerivedMetrics(const DerivedMetrics&) = delete;
  DerivedMetrics& operator=(const DerivedMetrics&) = delete;
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  /// The run of `stream` began then, as the code itself told; else it is the first time of a point.
  void start(std::string_view stream, double time_s);
  /// The steps of this series are numbers of samples: it has samples per second, and no steps.
  void count_samples(std::string_view stream, std::string_view metric);
  /// Once all points were added: gives the rest to `next`, and says what a person should know.
  std::vector<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::collect

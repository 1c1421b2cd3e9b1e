#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// A sink that passes points on to `next` and adds metrics derived from their times
/// (spec::with_derived): time per epoch and step, steps or samples per second, time to a target.
/// Adds none for points without times. Memory does not grow with the points.
class DerivedMetrics final : public base::SeriesSink {
 public:
  /// `declared` must outlive this.
  DerivedMetrics(const std::vector<spec::MetricSpec>& declared, base::SeriesSink& next);
  ~DerivedMetrics() override;
  DerivedMetrics(const DerivedMetrics&) = delete;
  DerivedMetrics& operator=(const DerivedMetrics&) = delete;
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  /// Sets the begin of the run of `stream`, as the code reported it. Default: the first point's
  /// time.
  void start(std::string_view stream, double time_s);
  /// Declares the steps of this series as numbers of samples: derives samples per second instead.
  void count_samples(std::string_view stream, std::string_view metric);
  /// To be called after the last point: passes the rest to `next` and returns notes for the user.
  std::vector<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::collect

#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/events/stop_condition.hpp>
#include <sabath/spec/metric.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// Checks the stop conditions of a recipe on the points of one stage.
class StopConditions final : public base::SeriesSink {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `conditions` are by metric; `metrics` say which values are better.
  StopConditions(const std::string& stage,
                 const std::map<std::string, spec::StopCondition>& conditions,
                 const std::vector<spec::MetricSpec>& metrics);

  /// Sets the time at which the points that follow arrived.
  void arrive(Time now) { now_ = now; }
  /// Takes all points back: they come again.
  void forget();
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  /// Returns the first condition that holds: "train/loss is NaN at step 300".
  std::optional<std::string> held() const;

 private:
  /// Best value of a metric, and when it came.
  struct Best {
    double value = 0;
    std::string place{};
    std::int64_t progress = 0;
    Time since{};
  };
  struct Watched {
    std::string name{};
    spec::StopCondition condition{};
    bool lower_is_better = true;
    // What the points said.
    std::optional<std::int32_t> rank{};  ///< the lowest, whose values are to improve
    std::int64_t records = 0;
    std::optional<std::int64_t> last{};  ///< number of the last step
    std::int64_t before = 0;             ///< steps of the epochs before, if steps begin anew
    std::optional<Best> best{};
    std::optional<Best> forgotten{};  ///< the best one of points that were taken back
  };

  void check_value(const Watched& metric, const base::SeriesPoint& point);
  void check_progress(Watched& metric, const base::SeriesPoint& point);
  void hold(const Watched& metric, const std::string& what);
  static std::string no_improvement(const Best& best, const std::string& how_long);

  std::string stage_;
  std::vector<Watched> metrics_{};
  Time now_{};
  std::optional<std::string> held_{};
};

}  // namespace sabath::execution

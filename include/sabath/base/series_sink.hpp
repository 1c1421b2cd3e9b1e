#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace sabath::base {

inline constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::min();

/// One value of one metric. `step` and `epoch` are `no_step` and `time_s` is NaN where the code did
/// not say.
struct SeriesPoint {
  std::int32_t rank = 0;
  std::int64_t step = no_step;
  std::int64_t epoch = no_step;
  double value = 0;
  double time_s = std::numeric_limits<double>::quiet_NaN();
};

/// Takes the points of metric series as `collect` finds them; implemented by `arrays` (series.h5).
class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  /// `stream` is the stage that reported. Points of one (stream, metric) come in the order of the
  /// file.
  virtual void add(std::string_view stream, std::string_view metric, const SeriesPoint& point) = 0;
};

}  // namespace sabath::base

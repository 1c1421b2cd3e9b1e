#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace sabath::base {

inline constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::min();

/// One value of one metric. Unknown are `step` and `epoch` as `no_step`, `time_s` as NaN. The exact
/// number is `value + rest` (base::ExactNumber).
struct SeriesPoint {
  std::int32_t rank = 0;
  std::int64_t step = no_step;
  std::int64_t epoch = no_step;
  double value = 0;
  double time_s = std::numeric_limits<double>::quiet_NaN();
  double rest = 0;  ///< of a whole number that no double holds
};

/// Number that a sink gives to one of its series.
enum class SeriesId : std::size_t {};

/// Receiver of the points of metric series that `collect` finds; implemented by `arrays`
/// (series.h5). There are millions of points and few names: look a name up once.
class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  /// Returns the same id for the same names; `stream` is the stage that reported.
  virtual SeriesId open(std::string_view stream, std::string_view metric) = 0;
  /// Points of one series come in the order of the file.
  virtual void add(SeriesId series, const SeriesPoint& point) = 0;
};

}  // namespace sabath::base

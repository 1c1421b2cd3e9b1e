#pragma once

#include "run_follower.hpp"

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sabath::live {

/// All points of a run's metrics so far, for a comparison while it runs.
/// Thread safety: one thread at a time.
class SeriesKept final : public base::SeriesSink {
 public:
  /// Points of one run that are kept at most: about 100 MB.
  static constexpr std::uint64_t most_points = 2'000'000;

  explicit SeriesKept(std::filesystem::path run_directory) : follower_(std::move(run_directory)) {}

  /// Reads what is new. Throws Error{usage} for a run with too many points.
  void refresh();
  const std::vector<spec::Series>& series() const { return series_; }
  const spec::SeriesRests& rests() const { return rests_; }
  const RunFollower& follower() const { return follower_; }

  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;

 private:
  RunFollower follower_;
  std::vector<spec::Series> series_{};
  spec::SeriesRests rests_{};
  std::map<std::pair<std::string, std::string>, std::size_t> index_{};
  std::uint64_t points_ = 0;
};

}  // namespace sabath::live

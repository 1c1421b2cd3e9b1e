#include "series_so_far.hpp"

#include <sabath/base/error.hpp>

namespace sabath::live {

void SeriesKept::refresh() {
  follower_.more(*this, [this] {
    series_.clear();
    rests_.clear();
    index_.clear();
    points_ = 0;
  });
  if (points_ <= most_points) return;
  throw base::Error(base::ErrorKind::usage,
                    "the run has more points than are compared while it runs",
                    "'sabath compare' compares them once it has ended");
}

base::SeriesId SeriesKept::open(std::string_view stream, std::string_view metric) {
  const std::pair key{std::string(stream), std::string(metric)};
  const auto [found, is_new] = index_.try_emplace(key, series_.size());
  if (is_new) {
    series_.emplace_back();
    series_.back().stream = key.first;
    series_.back().name = key.second;
  }
  return base::SeriesId{found->second};
}

void SeriesKept::add(base::SeriesId id, const base::SeriesPoint& point) {
  if (++points_ > most_points) return;
  spec::Series& series = series_[static_cast<std::size_t>(id)];
  const std::string key = series.stream + "/" + series.name;
  if (point.rest != 0) rests_[key].resize(series.size(), 0);
  series.rank.push_back(point.rank);
  series.step.push_back(point.step);
  series.epoch.push_back(point.epoch);
  series.value.push_back(point.value);
  series.time_s.push_back(point.time_s);
  if (const auto rests = rests_.find(key); rests != rests_.end())
    rests->second.push_back(point.rest);
}

}  // namespace sabath::live

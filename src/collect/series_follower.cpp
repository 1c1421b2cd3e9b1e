#include "file_position.hpp"
#include "stage_reader.hpp"

#include <sabath/collect/follow.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sabath::collect {
namespace {

/// Passes points on to a sink that may be another one in each call.
class Relay final : public base::SeriesSink {
 public:
  void begin(base::SeriesSink& to) {
    to_ = &to;
    points_ = 0;
    for (Series& one : series_)
      one.target.reset();
  }
  std::uint64_t points() const { return points_; }

  base::SeriesId open(std::string_view stream, std::string_view metric) override {
    const auto found = ids_.find(metric);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<base::SeriesId>(series_.size());
    series_.push_back({std::string(stream), std::string(metric), {}});
    ids_.emplace(metric, id);
    return id;
  }
  void add(base::SeriesId series, const base::SeriesPoint& point) override {
    Series& one = series_[static_cast<std::size_t>(series)];
    if (!one.target) one.target = to_->open(one.stream, one.metric);
    to_->add(*one.target, point);
    ++points_;
  }

 private:
  struct Series {
    std::string stream{};
    std::string metric{};
    std::optional<base::SeriesId> target{};
  };

  base::SeriesSink* to_ = nullptr;
  std::uint64_t points_ = 0;
  std::vector<Series> series_{};
  std::map<std::string, base::SeriesId, std::less<>> ids_{};  ///< all are of one stage
};

/// What is void when the files are read again.
struct Reading {
  Reading(const StageFiles& files,
          const std::vector<spec::MetricSpec>& declared,
          std::chrono::milliseconds again)
      : positions(again), reader(files, declared, relay, &positions) {}

  FilePositions positions;
  Relay relay{};
  StageReader reader;
};

}  // namespace

struct SeriesFollower::State {
  StageFiles files;
  std::vector<spec::MetricSpec> declared;
  std::chrono::milliseconds again;
  std::unique_ptr<Reading> reading{};
};

SeriesFollower::SeriesFollower(StageFiles files,
                               std::vector<spec::MetricSpec> declared,
                               std::chrono::milliseconds again)
    : state_(new State{std::move(files), std::move(declared), again}) {}

SeriesFollower::~SeriesFollower() = default;

Followed SeriesFollower::more(base::SeriesSink& sink, const std::function<void()>& forget) {
  auto& reading = state_->reading;
  const bool is_outdated = reading && reading->positions.is_outdated();
  if (is_outdated && forget) forget();
  if (!reading || is_outdated)
    reading = std::make_unique<Reading>(state_->files, state_->declared, state_->again);
  reading->relay.begin(sink);
  reading->reader.read();
  return {reading->relay.points(), reading->reader.take_bad_lines()};
}

}  // namespace sabath::collect

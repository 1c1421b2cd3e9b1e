#include <sabath/collect/collect.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace sabath::collect {
namespace {

/// Points of several processes in one log are not in order, by less than that.
constexpr double most_disorder_s = 1;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Results from the times of one stream. They come from one series, the first in which a point has
/// a time, and of one rank: others repeat them, or have clocks of their own.
struct Stream {
  std::string name{};
  double start_s = unknown;  ///< the first time of all its series
  double told_start_s = unknown;
  std::optional<base::SeriesId> reference{};
  base::SeriesPoint first{};  ///< since the steps began (anew)
  base::SeriesPoint last{};
  bool is_torn = false;  ///< times went back since then
  double steps = 0;      ///< before that, and how long they took
  double steps_s = 0;
  double epoch_before_s = unknown;  ///< when the epoch before the last point's had ended
  std::int64_t epoch_before = base::no_step;
  std::uint64_t epoch_points = 0;  ///< of the last point's epoch, and the most that one has had
  std::uint64_t most_epoch_points = 0;
  std::optional<base::SeriesPoint> back{};  ///< the first whose time lies before the last one's
};

struct Series {
  base::SeriesId next{};
  std::size_t stream = 0;
  const spec::MetricSpec* target = nullptr;    ///< the metric, if it has one
  bool is_length = false;                      ///< of intervals: points at their ends alone
  bool counts_samples = false;                 ///< its steps are numbers of samples
  std::optional<base::SeriesPoint> timed{};    ///< the last point of the first rank
  std::optional<base::SeriesPoint> reached{};  ///< the first point at the target
};

bool reaches(const spec::MetricSpec& metric, double value) {
  return metric.better == spec::Better::lower ? value <= *metric.target : value >= *metric.target;
}

bool is_back(const base::SeriesPoint& last, const base::SeriesPoint& point) {
  return point.time_s < last.time_s - most_disorder_s;
}

std::string back_text(const base::SeriesPoint& point) {
  std::string text = "times go back";
  if (point.step != base::no_step) {
    text += " at step " + std::to_string(point.step);
  } else if (point.epoch != base::no_step) {
    text += " at epoch " + std::to_string(point.epoch);
  }
  return text + ": the time per step across it, and to a target, is not known";
}

}  // namespace

struct DerivedMetrics::State {
  const std::vector<spec::MetricSpec>& declared;
  base::SeriesSink& next;
  std::vector<Stream> streams{};
  std::vector<Series> series{};
  std::map<std::pair<std::string, std::string>, base::SeriesId> ids{};

  std::size_t stream_of(std::string_view name) {
    const auto found = std::ranges::find(streams, name, &Stream::name);
    const auto index = static_cast<std::size_t>(found - streams.begin());
    if (found == streams.end()) streams.emplace_back().name = name;
    return index;
  }

  void emit(const Stream& stream, const std::string& name, base::SeriesPoint point, double value) {
    // What the code itself calls so is its own.
    if (ids.contains({stream.name, name})) return;
    point.value = value;
    point.rest = 0;
    next.add(next.open(stream.name, name), point);
  }

  /// The last point's epoch is over. Between two points there may be several epochs.
  void end_epoch(Stream& stream) {
    if (stream.last.epoch == base::no_step) return;
    const double seconds = stream.last.time_s - stream.epoch_before_s;
    if (stream.epoch_before != base::no_step && stream.last.epoch > stream.epoch_before &&
        seconds >= 0) {
      const auto epochs =
          static_cast<double>(stream.last.epoch) - static_cast<double>(stream.epoch_before);
      emit(stream, spec::seconds_per_epoch, stream.last, seconds / epochs);
    }
    stream.epoch_before_s = stream.last.time_s;
    stream.epoch_before = stream.last.epoch;
    stream.most_epoch_points = std::max(stream.most_epoch_points, stream.epoch_points);
    stream.epoch_points = 0;
  }

  /// Those from the first point to the last. A stretch in which the clock went back is left out.
  static void count_steps(Stream& stream) {
    if (stream.first.step == base::no_step || stream.last.step <= stream.first.step) return;
    const double seconds = stream.last.time_s - stream.first.time_s;
    if (stream.is_torn || !(seconds > 0)) return;
    stream.steps += static_cast<double>(stream.last.step - stream.first.step);
    stream.steps_s += seconds;
  }

  /// Are the times of the series in order?
  static void check_order(Stream& stream, Series& series, const base::SeriesPoint& point) {
    if (series.timed && series.timed->rank != point.rank) return;
    if (series.timed && is_back(*series.timed, point) && !stream.back) stream.back = point;
    series.timed = point;
  }

  void take_time(Stream& stream, base::SeriesId id, const base::SeriesPoint& point) {
    check_order(stream, series[static_cast<std::size_t>(id)], point);
    if (!(stream.start_s <= point.time_s)) stream.start_s = point.time_s;
    if (!stream.reference) {
      stream.reference = id;
      stream.first = stream.last = point;
    }
    if (stream.reference != id || stream.first.rank != point.rank) return;
    if (point.epoch != stream.last.epoch) end_epoch(stream);
    if (point.step != base::no_step && point.step < stream.last.step) {
      count_steps(stream);
      stream.first = point;
      stream.is_torn = false;
    } else if (is_back(stream.last, point)) {
      stream.is_torn = true;
    }
    ++stream.epoch_points;
    stream.last = point;
  }

  void finish(Stream& stream) {
    if (!stream.reference) return;
    // One that has fewer points than others was cut off.
    if (stream.epoch_points >= stream.most_epoch_points) end_epoch(stream);
    count_steps(stream);
    if (!(stream.steps > 0)) return;
    if (series[static_cast<std::size_t>(*stream.reference)].counts_samples) {
      emit(stream, spec::samples_per_second, stream.last, stream.steps / stream.steps_s);
      return;
    }
    emit(stream, spec::seconds_per_step, stream.last, stream.steps_s / stream.steps);
    emit(stream, spec::steps_per_second, stream.last, stream.steps / stream.steps_s);
  }

  std::string finish(const Series& one) {
    const Stream& stream = streams[one.stream];
    const std::string metric = "metric '" + one.target->name + "'";
    if (!one.reached) return metric + " did not reach its target";
    if (stream.back) return {};  // reported for the stream
    const double start_s = std::isnan(stream.told_start_s) ? stream.start_s : stream.told_start_s;
    const double seconds = one.reached->time_s - start_s;
    constexpr double ten_years_s = 3e8;
    if (seconds > ten_years_s) {
      return metric + " reached its target, but the stage's points have times of different clocks";
    }
    if (std::isnan(seconds)) {
      return metric +
             " reached its target, but its points have no time: how long it took is not known";
    }
    emit(stream, spec::seconds_to_target(one.target->name), *one.reached, seconds);
    return {};
  }
};

DerivedMetrics::DerivedMetrics(const std::vector<spec::MetricSpec>& declared,
                               base::SeriesSink& next)
    : state_(new State{declared, next}) {}

DerivedMetrics::~DerivedMetrics() = default;

base::SeriesId DerivedMetrics::open(std::string_view stream, std::string_view metric) {
  const auto id = static_cast<base::SeriesId>(state_->series.size());
  const auto [known, is_new] =
      state_->ids.emplace(std::pair(std::string(stream), std::string(metric)), id);
  if (!is_new) return known->second;
  Series& series = state_->series.emplace_back();
  series.next = state_->next.open(stream, metric);
  series.is_length = metric.starts_with("derived/");
  for (const spec::MetricSpec& declared : state_->declared) {
    if (declared.name == metric && declared.target) series.target = &declared;
  }
  series.stream = state_->stream_of(stream);
  return id;
}

void DerivedMetrics::start(std::string_view stream, double time_s) {
  state_->streams[state_->stream_of(stream)].told_start_s = time_s;
}

void DerivedMetrics::count_samples(std::string_view stream, std::string_view metric) {
  const auto found = state_->ids.find({std::string(stream), std::string(metric)});
  if (found != state_->ids.end())
    state_->series[static_cast<std::size_t>(found->second)].counts_samples = true;
}

void DerivedMetrics::add(base::SeriesId id, const base::SeriesPoint& point) {
  Series& series = state_->series[static_cast<std::size_t>(id)];
  state_->next.add(series.next, point);
  if (!std::isnan(point.time_s) && !series.is_length)
    state_->take_time(state_->streams[series.stream], id, point);
  if (series.target == nullptr || series.reached) return;
  if (reaches(*series.target, point.value)) series.reached = point;
}

std::vector<std::string> DerivedMetrics::finish() {
  for (Stream& stream : state_->streams)
    state_->finish(stream);
  std::vector<std::string> notes;
  for (const Stream& stream : state_->streams) {
    if (stream.back) notes.push_back(back_text(*stream.back));
  }
  for (const Series& series : state_->series) {
    if (series.target == nullptr) continue;
    const std::string note = state_->finish(series);
    if (!note.empty()) notes.push_back(note);
  }
  return notes;
}

}  // namespace sabath::collect

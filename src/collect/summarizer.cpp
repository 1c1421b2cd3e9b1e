#include <sabath/base/moments.hpp>
#include <sabath/collect/collect.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sabath::collect {
namespace {

/// The newest values of a series, at most so many.
class LastValues {
 public:
  void keep(std::size_t most) { most_ = most; }
  void clear() { values_.clear(); }
  void add(double value) {
    if (values_.size() < most_) {
      values_.push_back(value);
      next_ = 0;
    } else if (most_ > 0) {
      values_[next_] = value;
      next_ = (next_ + 1) % most_;
    }
  }
  /// NaN where one of them is not finite.
  double mean() const {
    std::vector<double> oldest_first = values_;
    const auto oldest = oldest_first.begin() + static_cast<std::ptrdiff_t>(next_);
    std::rotate(oldest_first.begin(), oldest, oldest_first.end());
    return base::moments(oldest_first).mean;
  }

 private:
  std::vector<double> values_{};
  std::size_t most_ = 0;
  std::size_t next_ = 0;  ///< place of the oldest value
};

/// Summary of one series. Keeps values only if a median or the mean of the last ones is wanted:
/// performance metrics have few points.
struct Running {
  spec::MetricSummary summary{};
  std::vector<double> kept{};
  LastValues newest{};  ///< of the lowest rank
  spec::JudgeKind judge = spec::JudgeKind::last;
  std::uint64_t finite = 0;
  int warmup = 0;
  base::SeriesId next{};
  std::int32_t first_rank = 0;  ///< the lowest that reports

  /// The points of each rank so far: each rank warms up by itself. `count` leads to those of
  /// `rank`, since most points are of the rank before.
  std::map<std::int32_t, std::uint64_t> seen{};
  std::int32_t rank = 0;
  std::uint64_t* count = nullptr;

  bool is_warm(std::int32_t of_rank) {
    if (count == nullptr || rank != of_rank) {
      rank = of_rank;
      count = &seen[rank];
    }
    return ++*count > static_cast<std::uint64_t>(warmup);
  }
};

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

}  // namespace

struct Summarizer::State {
  std::vector<spec::MetricSpec> declared;
  base::SeriesSink& next;
  std::vector<Running> series{};  ///< by id
  std::map<std::string, std::map<std::string, base::SeriesId, std::less<>>, std::less<>> ids{};

  base::SeriesId make(std::string_view stream, std::string_view metric) {
    const auto id = static_cast<base::SeriesId>(series.size());
    Running& fresh = series.emplace_back();
    fresh.summary.stream = stream;
    fresh.summary.name = metric;
    fresh.next = next.open(stream, metric);
    for (const spec::MetricSpec& spec : declared) {
      if (spec.name != metric) continue;
      fresh.summary.unit = spec.unit;
      fresh.summary.better = spec.better;
      fresh.summary.performance = spec.performance;
      fresh.warmup = spec.warmup;
      fresh.judge = spec.judge.kind;
      fresh.summary.judge = spec.judge.label();
      fresh.newest.keep(static_cast<std::size_t>(spec.judge.values));
    }
    return id;
  }
};

Summarizer::Summarizer(std::vector<spec::MetricSpec> declared, base::SeriesSink& next)
    : state_(new State{std::move(declared), next}) {}

Summarizer::~Summarizer() = default;

base::SeriesId Summarizer::open(std::string_view stream, std::string_view metric) {
  auto metrics = state_->ids.find(stream);
  if (metrics == state_->ids.end()) metrics = state_->ids.try_emplace(std::string(stream)).first;
  const auto found = metrics->second.find(metric);
  if (found != metrics->second.end()) return found->second;
  return metrics->second.emplace(metric, state_->make(stream, metric)).first->second;
}

void Summarizer::add(base::SeriesId series, const base::SeriesPoint& point) {
  Running& running = state_->series[static_cast<std::size_t>(series)];
  spec::MetricSummary& summary = running.summary;
  if (summary.points == 0 || point.rank < running.first_rank) {
    running.first_rank = point.rank;
    summary.first = point.value;
    running.newest.clear();
  }
  if (point.rank == running.first_rank) {
    summary.last = point.value;
    running.newest.add(point.value);
  }
  ++summary.points;
  const bool is_warm = !summary.performance || running.is_warm(point.rank);
  if (!std::isfinite(point.value)) {
    ++summary.not_finite;
  } else {
    ++running.finite;
    summary.min = running.finite == 1 ? point.value : std::min(summary.min, point.value);
    summary.max = running.finite == 1 ? point.value : std::max(summary.max, point.value);
    const double mean = running.finite == 1 ? 0 : summary.mean;
    summary.mean = mean + (point.value - mean) / static_cast<double>(running.finite);
    if (summary.performance && is_warm) running.kept.push_back(point.value);
  }
  state_->next.add(running.next, point);
}

std::vector<spec::MetricSummary> Summarizer::summaries() const {
  std::vector<spec::MetricSummary> result;
  for (const auto& [stream, metrics] : state_->ids) {
    for (const auto& [name, id] : metrics) {
      const Running& running = state_->series[static_cast<std::size_t>(id)];
      if (running.summary.points == 0) continue;
      result.push_back(running.summary);
      spec::MetricSummary& summary = result.back();
      if (summary.performance) summary.median = median_of(running.kept);
      if (running.judge == spec::JudgeKind::best)
        summary.judged = summary.better == spec::Better::lower ? summary.min : summary.max;
      if (running.judge == spec::JudgeKind::mean_of_last) summary.judged = running.newest.mean();
    }
  }
  return result;
}

}  // namespace sabath::collect

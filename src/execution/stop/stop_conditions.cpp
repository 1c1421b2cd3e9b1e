#include "stop/stop_conditions.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sabath::execution {
namespace {

constexpr base::SeriesId ignored{std::numeric_limits<std::size_t>::max()};

/// Steps, else epochs, else records.
struct Place {
  const char* noun = "record";
  std::int64_t number = 0;
};

Place place_of(const base::SeriesPoint& point, std::int64_t record) {
  if (point.step != base::no_step) return {"step", point.step};
  if (point.epoch != base::no_step) return {"epoch", point.epoch};
  return {"record", record};
}

std::string text_of(const Place& place, std::int32_t rank) {
  const std::string of_rank = rank == 0 ? "" : fmt::format(" (rank {})", rank);
  return fmt::format("{} {}{}", place.noun, place.number, of_rank);
}

}  // namespace

StopConditions::StopConditions(const std::string& stage,
                               const std::map<std::string, spec::StopCondition>& conditions,
                               const std::vector<spec::MetricSpec>& metrics)
    : stage_(stage) {
  for (const auto& [name, condition] : conditions) {
    const auto metric = std::ranges::find(metrics, name, &spec::MetricSpec::name);
    Watched& watched = metrics_.emplace_back();
    watched.name = name;
    watched.condition = condition;
    watched.lower_is_better = metric == metrics.end() || metric->better != spec::Better::higher;
  }
}

void StopConditions::forget() {
  for (Watched& metric : metrics_) {
    Watched fresh;
    fresh.name = metric.name;
    fresh.condition = metric.condition;
    fresh.lower_is_better = metric.lower_is_better;
    fresh.forgotten = metric.best ? metric.best : metric.forgotten;
    metric = std::move(fresh);
  }
}

base::SeriesId StopConditions::open(std::string_view stream, std::string_view metric) {
  if (stream != stage_) return ignored;
  const auto found = std::ranges::find(metrics_, metric, &Watched::name);
  return found == metrics_.end() ? ignored : static_cast<base::SeriesId>(found - metrics_.begin());
}

void StopConditions::add(base::SeriesId series, const base::SeriesPoint& point) {
  if (series == ignored || held_) return;
  Watched& metric = metrics_[static_cast<std::size_t>(series)];
  if (!metric.rank || point.rank < *metric.rank) {
    metric.rank = point.rank;
    metric.records = 0;
    metric.last.reset();
    metric.before = 0;
    metric.best.reset();
  }
  if (point.rank == *metric.rank) ++metric.records;
  check_value(metric, point);
  if (metric.condition.wants_better() && point.rank == *metric.rank) check_progress(metric, point);
}

void StopConditions::check_value(const Watched& metric, const base::SeriesPoint& point) {
  const spec::StopCondition& condition = metric.condition;
  const std::string place = text_of(place_of(point, metric.records), point.rank);
  if (condition.nan && std::isnan(point.value)) hold(metric, "is NaN at " + place);
  if (condition.above && point.value > *condition.above)
    hold(metric, fmt::format("is {} at {}, above {}", point.value, place, *condition.above));
  if (condition.below && point.value < *condition.below)
    hold(metric, fmt::format("is {} at {}, below {}", point.value, place, *condition.below));
}

void StopConditions::check_progress(Watched& metric, const base::SeriesPoint& point) {
  const Place place = place_of(point, metric.records);
  // Steps may begin anew in each epoch.
  if (metric.last && place.number < *metric.last) metric.before += *metric.last - place.number + 1;
  metric.last = place.number;
  const std::int64_t progress = metric.before + place.number;
  const auto is_better = [&](double than) {
    return metric.lower_is_better ? point.value < than : point.value > than;
  };
  const bool is_first = !metric.best || std::isnan(metric.best->value);
  if (!std::isnan(point.value) && (is_first || is_better(metric.best->value))) {
    const bool is_known = metric.forgotten && !is_better(metric.forgotten->value);
    metric.best = Best{point.value,
                       text_of(place, point.rank),
                       progress,
                       is_known ? metric.forgotten->since : now_};
  }
  if (!metric.best) metric.best = Best{point.value, text_of(place, point.rank), progress, now_};
  const auto steps = static_cast<std::uint64_t>(progress - metric.best->progress);
  if (metric.condition.steps && steps >= *metric.condition.steps)
    hold(metric, no_improvement(*metric.best, base::counted(steps, place.noun)));
}

std::string StopConditions::no_improvement(const Best& best, const std::string& how_long) {
  return fmt::format(
      "has not improved for {}: the best value is {} at {}", how_long, best.value, best.place);
}

void StopConditions::hold(const Watched& metric, const std::string& what) {
  if (!held_) held_ = base::printable(stage_ + "/" + metric.name + " " + what);
}

std::optional<std::string> StopConditions::held() const {
  if (held_) return held_;
  for (const Watched& metric : metrics_) {
    const auto& time = metric.condition.time;
    if (!time || !metric.best || now_ - metric.best->since < *time) continue;
    const double minutes = std::chrono::duration<double, std::ratio<60>>(*time).count();
    return base::printable(stage_ + "/" + metric.name + " " +
                           no_improvement(*metric.best, fmt::format("{} minutes", minutes)));
  }
  return std::nullopt;
}

}  // namespace sabath::execution

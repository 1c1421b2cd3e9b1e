#include <sabath/analysis/difference_courses.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/execution/collect_run.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>

namespace sabath::analysis {
namespace {

namespace fs = std::filesystem;

struct Side {
  std::vector<spec::MetricSummary> metrics{};
  std::vector<spec::Series> series{};
};

/// Reads nothing from runs with too many points.
Side read_side(const fs::path& directory) {
  constexpr std::uint64_t most_points = 200'000;
  Side side;
  const auto current = execution::read_current_metrics(home::RunFiles(directory));
  std::error_code code;
  if (!current || !fs::exists(current->series, code)) return side;
  side.metrics = current->metrics;
  std::uint64_t points = 0;
  for (const spec::MetricSummary& metric : side.metrics)
    points += metric.points;
  if (points <= most_points) side.series = arrays::read_series(current->series);
  return side;
}

const spec::Series* series_of(const Side& side, const spec::MetricSummary& metric) {
  const auto found = std::ranges::find_if(side.series, [&](const auto& series) {
    return series.stream == metric.stream && series.name == metric.name && series.size() > 1;
  });
  return found == side.series.end() ? nullptr : &*found;
}

}  // namespace

const char* name_of(Along along) {
  return along == Along::step ? "step" : along == Along::epoch ? "epoch" : "point";
}

Along along_of(const spec::Series& series) {
  const auto all_say = [](const std::vector<std::int64_t>& places) {
    return std::ranges::find(places, base::no_step) == places.end();
  };
  if (all_say(series.step)) return Along::step;
  return all_say(series.epoch) ? Along::epoch : Along::point;
}

double place_of(const spec::Series& series, Along along, std::size_t i) {
  if (along == Along::step) return static_cast<double>(series.step[i]);
  return static_cast<double>(along == Along::epoch ? series.epoch[i]
                                                   : static_cast<std::int64_t>(i + 1));
}

void for_each_difference(const spec::Series& a,
                         const spec::Series& b,
                         Along along,
                         const std::function<void(double place, double apart)>& take) {
  using Place = std::tuple<std::int32_t, std::int64_t, std::int64_t>;
  const auto place_in = [](const spec::Series& series, std::size_t i) {
    return Place(series.rank[i], series.step[i], series.epoch[i]);
  };
  // A step may come again, where each epoch counts its own: then the n-th belongs to the n-th.
  std::map<Place, std::deque<std::size_t>> places;
  for (std::size_t i = 0; i < a.size(); ++i)
    places[place_in(a, i)].push_back(i);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto found = places.find(place_in(b, i));
    if (found == places.end() || found->second.empty()) continue;
    const double one = a.value[found->second.front()];
    found->second.pop_front();
    const double other = b.value[i];
    if (one == other || (std::isnan(one) && std::isnan(other))) continue;
    const double largest = std::max(std::abs(one), std::abs(other));
    // The difference itself may be too large for a number, half of the smallest one is none.
    const double part = largest > 1 ? 0.5 : 1;
    const double apart = std::abs(one * part - other * part) / (largest * part);
    take(place_of(b, along, i), std::isfinite(apart) ? apart : HUGE_VAL);
  }
}

std::vector<report::DifferenceCourse> difference_courses(const fs::path& run_a,
                                                         const fs::path& run_b) {
  std::vector<report::DifferenceCourse> courses;
  try {
    const Side a = read_side(run_a);
    const Side b = read_side(run_b);
    for (const spec::MetricSummary& metric : a.metrics) {
      const spec::Series* one = series_of(a, metric);
      const spec::Series* other = series_of(b, metric);
      if (metric.performance || one == nullptr || other == nullptr) continue;
      const Along along = along_of(*one);
      if (along == Along::point || along_of(*other) != along) continue;
      report::DifferenceCourse course;
      course.metric = metric.stream + "/" + metric.name;
      course.along = name_of(along);
      // Where they are equal there is a place without a value.
      for (std::size_t i = 0; i < other->size(); ++i)
        course.course.add(place_of(*other, along, i), std::nan(""));
      for_each_difference(*one, *other, along, [&](double place, double apart) {
        course.course.add(place, std::log10(apart));
      });
      const auto& buckets = course.course.buckets();
      const bool differs =
          std::ranges::any_of(buckets, [](const auto& bucket) { return bucket.finite > 0; });
      if (differs) courses.push_back(std::move(course));
    }
  } catch (const base::Error&) {
    courses.clear();
  }
  return courses;
}

}  // namespace sabath::analysis

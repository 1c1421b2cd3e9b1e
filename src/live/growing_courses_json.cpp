#include "growing_courses.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_metrics = 48;
constexpr std::chrono::seconds between_reads(1);

/// Versions of courses that are made anew are greater than those of earlier ones.
std::uint64_t first_version() {
  static std::atomic<std::uint64_t> made{0};
  constexpr std::uint64_t most_changes = 1'000'000'000;
  return ++made * most_changes;
}

const char* along_of(const base::SeriesPoint& point) {
  if (point.step != base::no_step) return "step";
  return point.epoch != base::no_step ? "epoch" : "point";
}

ordered_json number(double value) {
  return base::json_number(value);
}

ordered_json bucket_json(const report::Bucket& bucket) {
  const bool has_value = bucket.finite > 0;
  return ordered_json::array({bucket.key,
                              number(bucket.x),
                              has_value ? number(bucket.low) : ordered_json(),
                              has_value ? number(bucket.mean) : ordered_json(),
                              has_value ? number(bucket.high) : ordered_json(),
                              bucket.finite,
                              bucket.points});
}

ordered_json point_json(const std::optional<report::Point>& point) {
  return point ? ordered_json::array({number(point->x), number(point->y)}) : ordered_json();
}

}  // namespace

/// Adds points to the courses.
class GrowingCourses::Sink final : public base::SeriesSink {
 public:
  explicit Sink(GrowingCourses& owner) : owner_(owner) {}

  base::SeriesId open(std::string_view stream, std::string_view metric) override {
    const std::pair key{std::string(stream), std::string(metric)};
    const auto found = owner_.index_.find(key);
    if (found != owner_.index_.end()) return base::SeriesId{found->second};
    auto course = std::make_unique<GrowingCourse>();
    course->stage = key.first;
    course->name = key.second;
    owner_.courses_.push_back(std::move(course));
    owner_.index_[key] = owner_.courses_.size() - 1;
    return base::SeriesId{owner_.courses_.size() - 1};
  }

  void add(base::SeriesId series, const base::SeriesPoint& point) override {
    GrowingCourse& one = *owner_.courses_[static_cast<std::size_t>(series)];
    ++one.points;
    if (one.along.empty()) one.along = along_of(point);
    double x = static_cast<double>(one.points);
    if (one.along == "step") x = static_cast<double>(point.step);
    if (one.along == "epoch") x = static_cast<double>(point.epoch);
    const bool has_place = (one.along != "step" || point.step != base::no_step) &&
                           (one.along != "epoch" || point.epoch != base::no_step);
    if (!has_place) {
      ++one.placeless;
      return;
    }
    if (!std::isfinite(point.value)) {
      ++one.not_finite;
      if (!one.first_not_finite) one.first_not_finite = report::Point{x, point.value};
    }
    if (!one.last || x >= one.last->x) one.last = report::Point{x, point.value};
    one.course.add(x, point.value);
  }

 private:
  GrowingCourses& owner_;
};

GrowingCourses::GrowingCourses(std::filesystem::path run_directory)
    : follower_(std::move(run_directory)), version_(first_version()) {}

GrowingCourses::~GrowingCourses() = default;

void GrowingCourses::forget() {
  courses_.clear();
  index_.clear();
  ++version_;
}

double GrowingCourses::refresh(base::Clock& clock) {
  const std::lock_guard lock(mutex_);
  const base::SteadyTime begin = clock.steady();
  const auto pause = std::max<std::chrono::nanoseconds>(between_reads, cost_ * 20);
  if (follower_.is_over() || (read_at_ && begin - *read_at_ < pause)) return 0;
  try {
    Sink sink(*this);
    follower_.more(sink, [this] { forget(); });
    problem_.clear();
  } catch (const base::Error& error) {
    problem_ = error.what();
  }
  note_changes();
  read_at_ = clock.steady();
  cost_ = *read_at_ - begin;
  return follower_.operations();
}

void GrowingCourses::note_changes() {
  const std::uint64_t next = version_ + 1;
  bool has_changed = false;
  for (const auto& course : courses_) {
    GrowingCourse& one = *course;
    const std::vector<report::Bucket>& buckets = one.course.buckets();
    const bool is_wider = one.told_exponent != one.course.exponent();
    if (one.told.empty() || is_wider || buckets.size() < one.told.size()) {
      one.told.clear();
      one.versions.clear();
      one.whole_since = next;
      one.told_exponent = one.course.exponent();
    }
    one.versions.resize(buckets.size(), 0);
    bool differs = false;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (i < one.told.size() && one.told[i] == buckets[i]) continue;
      one.versions[i] = next;
      differs = true;
    }
    if (differs) one.told = buckets;
    has_changed = has_changed || differs;
  }
  if (has_changed) version_ = next;
}

ordered_json GrowingCourses::course_json(const GrowingCourse& one, std::uint64_t version) const {
  ordered_json buckets = ordered_json::array();
  const bool is_whole = version < one.whole_since || version == 0;
  for (std::size_t i = 0; i < one.told.size(); ++i) {
    if (is_whole || one.versions[i] > version) buckets.push_back(bucket_json(one.told[i]));
  }
  const auto declared = std::ranges::find(follower_.declared(), one.name, &spec::MetricSpec::name);
  const bool is_declared = declared != follower_.declared().end();
  const auto& ends = one.course.ends();
  return {{"name", one.name},
          {"stage", one.stage},
          {"unit", is_declared ? declared->unit : ""},
          {"better", is_declared ? spec::to_string(declared->better) : "none"},
          {"performance", is_declared && declared->performance},
          {"declared", is_declared},
          {"along", one.along},
          {"width", std::ldexp(1.0, one.told_exponent)},
          {"points", one.points},
          {"not_finite", one.not_finite},
          {"placeless", one.placeless},
          {"first", ends ? point_json(ends->first) : ordered_json()},
          {"last", point_json(one.last)},
          {"first_not_finite", point_json(one.first_not_finite)},
          {"whole", is_whole},
          {"buckets", std::move(buckets)}};
}

/// Results as the recipe declares them, then what it does not declare, then performance.
std::vector<const GrowingCourse*> GrowingCourses::in_order() const {
  const std::vector<spec::MetricSpec>& declared = follower_.declared();
  std::vector<const GrowingCourse*> order;
  for (const auto& course : courses_)
    order.push_back(course.get());
  const auto rank = [&](const GrowingCourse* one) {
    const auto found = std::ranges::find(declared, one->name, &spec::MetricSpec::name);
    const std::size_t place = static_cast<std::size_t>(found - declared.begin());
    const bool is_performance = found != declared.end() && found->performance;
    return is_performance ? declared.size() + 1 + place : place;
  };
  std::ranges::stable_sort(order, {}, rank);
  return order;
}

ordered_json GrowingCourses::changes_since(std::uint64_t version,
                                           const std::vector<std::string>& wanted) {
  const std::lock_guard lock(mutex_);
  if (version > version_) version = 0;  // of courses that are not kept any more
  std::vector<const GrowingCourse*> chosen = in_order();
  if (!wanted.empty()) {
    std::erase_if(chosen, [&](const GrowingCourse* one) {
      return std::ranges::find(wanted, one->stage + "/" + one->name) == wanted.end();
    });
  }
  if (chosen.size() > most_metrics) chosen.resize(most_metrics);
  ordered_json metrics = ordered_json::array();
  for (const GrowingCourse* one : chosen)
    metrics.push_back(course_json(*one, version));
  ordered_json names = ordered_json::array();
  for (const auto& course : courses_)
    names.push_back(course->stage + "/" + course->name);
  return {{"schema", 1},
          {"version", version_},
          {"is_over", follower_.is_over()},
          {"problem", problem_},
          {"names", std::move(names)},
          {"metrics", std::move(metrics)}};
}

std::vector<double> GrowingCourses::sparkline(std::size_t places) {
  const std::lock_guard lock(mutex_);
  const GrowingCourse* shown = nullptr;
  for (const spec::MetricSpec& metric : follower_.declared()) {
    if (metric.performance || metric.better == spec::Better::none) continue;
    for (const auto& course : courses_) {
      if (shown == nullptr && course->name == metric.name && course->told.size() > 1)
        shown = course.get();
    }
  }
  std::vector<double> means;
  if (shown == nullptr) return means;
  const std::size_t step = std::max<std::size_t>(1, (shown->told.size() + places - 1) / places);
  for (std::size_t i = 0; i < shown->told.size(); i += step)
    means.push_back(shown->told[i].mean);
  return means;
}

}  // namespace sabath::live

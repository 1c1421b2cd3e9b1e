#include <sabath/report/course.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace sabath::report {
namespace {

/// Weighted mean that does not overflow.
double mean_of(double a, double weight_a, double b, double weight_b) {
  const double all = weight_a + weight_b;
  return a * (weight_a / all) + b * (weight_b / all);
}

void merge(Bucket& into, const Bucket& other) {
  const auto weight = [](std::uint64_t count) { return static_cast<double>(count); };
  into.x = mean_of(into.x, weight(into.points), other.x, weight(other.points));
  if (other.finite > 0) {
    into.mean = into.finite == 0
                    ? other.mean
                    : mean_of(into.mean, weight(into.finite), other.mean, weight(other.finite));
  }
  into.low = std::min(into.low, other.low);
  into.high = std::max(into.high, other.high);
  into.finite += other.finite;
  into.points += other.points;
}

using Places = std::map<double, std::vector<const Bucket*>>;

Places places_of(std::span<Course> courses, int exponent) {
  Places places;
  for (Course& course : courses) {
    course.coarsen(exponent);
    for (const Bucket& bucket : course.buckets()) {
      if (bucket.finite > 0) places[bucket.key].push_back(&bucket);
    }
  }
  return places;
}

/// Are most of the runs that go on at a place there? Else a median would be of other runs from
/// place to place.
bool are_filled(const Places& places, std::span<const Course> courses) {
  constexpr std::size_t few = 4;
  if (places.size() <= few) return true;
  std::size_t there = 0;
  for (const auto& [key, buckets] : places)
    there += buckets.size();
  std::size_t wanted = 0;
  for (const Course& course : courses) {
    if (course.empty()) continue;
    wanted +=
        static_cast<std::size_t>(std::distance(places.lower_bound(course.buckets().front().key),
                                               places.upper_bound(course.buckets().back().key)));
  }
  return there * 4 >= wanted * 3;
}

}  // namespace

Bucket& Course::bucket_at(double key) {
  // Points mostly come in order: in the bucket of the one before, or behind all.
  if (latest_ < buckets_.size() && buckets_[latest_].key == key) return buckets_[latest_];
  auto place = buckets_.end();
  if (!buckets_.empty() && key <= buckets_.back().key) {
    place =
        std::lower_bound(buckets_.begin(), buckets_.end(), key, [](const Bucket& one, double k) {
          return one.key < k;
        });
  }
  if (place == buckets_.end() || place->key != key) {
    Bucket bucket;
    bucket.key = key;
    place = buckets_.insert(place, bucket);
  }
  latest_ = static_cast<std::size_t>(place - buckets_.begin());
  return *place;
}

void Course::add(double x, double y) {
  if (!std::isfinite(x)) return;
  while (!std::isfinite(std::ldexp(x, -exponent_)))
    coarsen(exponent_ + 1);
  Bucket point;
  point.x = x;
  point.points = 1;
  if (std::isfinite(y)) {
    point.low = point.high = point.mean = y;
    point.finite = 1;
    if (!ends_) ends_ = {{x, y}, {x, y}};
    if (x < ends_->first.x) ends_->first = {x, y};
    if (x >= ends_->second.x) ends_->second = {x, y};
  }
  Bucket& bucket = bucket_at(std::floor(std::ldexp(x, -exponent_)));
  if (bucket.points == 0) bucket.x = x;
  merge(bucket, point);
  while (buckets_.size() > most_buckets_)
    coarsen(exponent_ + 1);
}

void Course::coarsen(int exponent) {
  if (exponent <= exponent_) return;
  const int further = exponent - exponent_;
  exponent_ = exponent;
  std::vector<Bucket> wider;
  for (Bucket& bucket : buckets_) {
    bucket.key = std::floor(std::ldexp(bucket.key, -further));
    if (wider.empty() || wider.back().key != bucket.key) {
      wider.push_back(bucket);
    } else {
      merge(wider.back(), bucket);
    }
  }
  buckets_ = std::move(wider);
  latest_ = 0;
}

double quantile(std::span<const double> sorted, double share) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  if (part == 0) return sorted[below];
  return sorted[below] * (1 - part) + sorted[above] * part;
}

namespace {

void add_quartiles(Spread& spread, std::vector<double>& values) {
  std::ranges::sort(values);
  spread.low = quantile(values, 0.25);
  spread.middle = quantile(values, 0.5);
  spread.high = quantile(values, 0.75);
  spread.runs = values.size();
}

Spread spread_at(double x, const std::vector<Point>& points) {
  std::vector<double> values;
  for (const Point& point : points) {
    if (point.x == x) values.push_back(point.y);
  }
  Spread spread{.x = x};
  add_quartiles(spread, values);
  spread.lowest = values.front();
  spread.highest = values.back();
  return spread;
}

}  // namespace

std::optional<std::pair<Spread, Spread>> ends_of(std::span<const Course> courses) {
  std::vector<Point> first;
  std::vector<Point> last;
  for (const Course& course : courses) {
    if (!course.ends()) continue;
    first.push_back(course.ends()->first);
    last.push_back(course.ends()->second);
  }
  if (first.empty()) return std::nullopt;
  return std::pair{spread_at(std::ranges::min(first, {}, &Point::x).x, first),
                   spread_at(std::ranges::max(last, {}, &Point::x).x, last)};
}

std::vector<Spread> spread_of(std::span<Course> courses) {
  int exponent = std::numeric_limits<int>::min();
  for (const Course& course : courses)
    exponent = std::max(exponent, course.exponent());
  Places places = places_of(courses, exponent);
  while (!are_filled(places, courses))
    places = places_of(courses, ++exponent);
  std::vector<Spread> spreads;
  std::vector<double> means;
  for (const auto& [key, buckets] : places) {
    Spread& spread = spreads.emplace_back();
    means.clear();
    spread.lowest = buckets.front()->low;
    spread.highest = buckets.front()->high;
    for (const Bucket* bucket : buckets) {
      means.push_back(bucket->mean);
      spread.x += bucket->x / static_cast<double>(buckets.size());
      spread.lowest = std::min(spread.lowest, bucket->low);
      spread.highest = std::max(spread.highest, bucket->high);
    }
    add_quartiles(spread, means);
  }
  return spreads;
}

}  // namespace sabath::report

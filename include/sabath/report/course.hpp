#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sabath::report {

/// A stretch of a series. Keeps its extremes, so that a plot of buckets hides no spike.
struct Bucket {
  double key = 0;  ///< stretch of the axis: from key * width to (key + 1) * width
  double x = 0;    ///< mean place of its points
  double low = std::numeric_limits<double>::infinity();  ///< extremes and mean of finite values
  double high = -std::numeric_limits<double>::infinity();
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< NaN where no value is finite
  std::uint64_t finite = 0;
  std::uint64_t points = 0;

  bool operator==(const Bucket&) const = default;
};

struct Point {
  double x = 0;
  double y = 0;

  bool operator==(const Point&) const = default;
};

/// Course of one quantity with any number of points, in a bounded number of buckets. Widths are
/// powers of two from `finest` on, so that the courses of several runs align.
class Course {
 public:
  static constexpr std::size_t usual_buckets = 256;

  /// `finest` is 0 for steps (a bucket is one step at least), and -10 for seconds (about a
  /// millisecond).
  explicit Course(int finest = 0, std::size_t most_buckets = usual_buckets)
      : exponent_(finest), most_buckets_(most_buckets) {}

  /// Points may come in any order. A point whose place is not finite is left out.
  void add(double x, double y);
  /// Makes buckets wider, to 2^exponent.
  void coarsen(int exponent);
  int exponent() const noexcept { return exponent_; }
  const std::vector<Bucket>& buckets() const noexcept { return buckets_; }
  bool empty() const noexcept { return buckets_.empty(); }
  /// Its first and last points with a finite value; nothing without any.
  const std::optional<std::pair<Point, Point>>& ends() const noexcept { return ends_; }

  bool operator==(const Course&) const = default;

 private:
  Bucket& bucket_at(double key);

  int exponent_;
  std::size_t most_buckets_;
  std::vector<Bucket> buckets_{};
  std::optional<std::pair<Point, Point>> ends_{};
  std::size_t latest_ = 0;
};

/// Several runs at one place. Quartiles are of the runs' means; `lowest` and `highest` are of all
/// points.
struct Spread {
  double x = 0;
  double lowest = 0;
  double low = 0;
  double middle = 0;
  double high = 0;
  double highest = 0;
  std::uint64_t runs = 0;

  bool operator==(const Spread&) const = default;
};

/// Combines courses where one of them has a finite value. All are coarsened to the coarsest.
std::vector<Spread> spread_of(std::span<Course> courses);

/// The exact first and last places with a finite value; nothing without any. Includes the runs that
/// have a point there.
std::optional<std::pair<Spread, Spread>> ends_of(std::span<const Course> courses);

/// Quantile of sorted values, with linear interpolation (type 7 of Hyndman and Fan); NaN for none.
double quantile(std::span<const double> sorted, double share);

}  // namespace sabath::report

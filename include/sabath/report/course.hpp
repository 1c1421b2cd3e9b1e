#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sabath::report {

/// What a series is between two places of an axis. Its extremes are kept, so that a plot of buckets
/// hides no spike.
struct Bucket {
  double key = 0;  ///< which stretch of the axis: from key * width to (key + 1) * width
  double x = 0;    ///< mean place of its points
  double low = std::numeric_limits<double>::infinity();  ///< extremes and mean of finite values
  double high = -std::numeric_limits<double>::infinity();
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< NaN where no value is finite
  std::uint64_t finite = 0;
  std::uint64_t points = 0;

  bool operator==(const Bucket&) const = default;
};

/// The course of one quantity, however many points it has, in a bounded number of buckets. Widths
/// are powers of two from `finest` on, so that the courses of several runs can be laid upon one
/// another.
class Course {
 public:
  static constexpr std::size_t usual_buckets = 256;

  /// `finest` of steps is 0: a bucket is one step at least; of seconds -10 is about a millisecond.
  explicit Course(int finest = 0, std::size_t most_buckets = usual_buckets)
      : exponent_(finest), most_buckets_(most_buckets) {}

  /// Points may come in any order; one whose place is not finite is left out.
  void add(double x, double y);
  /// Makes buckets wider, to 2^exponent.
  void coarsen(int exponent);
  int exponent() const noexcept { return exponent_; }
  /// By place.
  const std::vector<Bucket>& buckets() const noexcept { return buckets_; }
  bool empty() const noexcept { return buckets_.empty(); }

  bool operator==(const Course&) const = default;

 private:
  Bucket& bucket_at(double key);

  int exponent_;
  std::size_t most_buckets_;
  std::vector<Bucket> buckets_{};
  std::size_t latest_ = 0;
};

/// Several runs at one place. Quartiles are of the runs' means there; `lowest` and `highest` are of
/// all their points.
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

/// The courses laid upon one another, where one of them has a finite value; all are made as coarse
/// as the coarsest.
std::vector<Spread> spread_of(std::span<Course> courses);

/// Of sorted values, with linear interpolation (type 7 of Hyndman and Fan); NaN for none.
double quantile(std::span<const double> sorted, double share);

}  // namespace sabath::report

#pragma once

#include <sabath/base/moments.hpp>

#include <map>
#include <span>
#include <vector>

namespace sabath::compare {

/// Closed interval.
struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

using base::Moments;
using base::moments;
using base::unit_of;

/// Middle of the sorted values, or the mean of the two middle ones; NaN without values.
double median(std::span<const double> values);

std::vector<double> finite_of(std::span<const double> values);

bool all_finite(std::span<const double> values);

/// Empty where a value is not positive and finite.
std::vector<double> logarithms(std::span<const double> values);

/// Means of the values of each sample, in the order of the samples.
template <class Sample>
std::vector<double> mean_by_sample(const std::vector<double>& values,
                                   const std::vector<Sample>& samples) {
  std::map<Sample, std::vector<double>> groups;
  for (std::size_t i = 0; i < values.size(); ++i)
    groups[samples[i]].push_back(values[i]);
  std::vector<double> means;
  means.reserve(groups.size());
  for (const auto& [sample, group] : groups)
    means.push_back(moments(group).mean);
  return means;
}

}  // namespace sabath::compare

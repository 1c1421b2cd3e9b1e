#pragma once

#include <sabath/compare/sample.hpp>

#include <cstddef>
#include <map>
#include <vector>

namespace sabath::compare {

/// Values that belong to one sample count once, as their mean; in the order of the samples.
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

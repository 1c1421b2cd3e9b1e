#pragma once

#include <sabath/spec/metric.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

// Metrics that follow from the times of others, and come by themselves.
inline constexpr const char* seconds_per_epoch = "derived/seconds_per_epoch";
inline constexpr const char* seconds_per_step = "derived/seconds_per_step";
inline constexpr const char* steps_per_second = "derived/steps_per_second";
inline constexpr const char* samples_per_second = "derived/samples_per_second";
/// The length of an interval of MLLOG ("run", "epoch", "eval"); of others there is none.
std::string seconds_of_interval(std::string_view interval);
/// Of a metric with a target.
std::string seconds_to_target(std::string_view metric);

/// Returns `declared` and all metrics that can be derived: performance, with unit and direction. A
/// declared metric of such a name is kept unchanged.
std::vector<MetricSpec> with_derived(std::vector<MetricSpec> declared);

}  // namespace sabath::spec

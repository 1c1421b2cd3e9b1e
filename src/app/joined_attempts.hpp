#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/collect/collect.hpp>
#include <sabath/spec/metric.hpp>

#include <string>
#include <vector>

namespace sabath::app {

/// Gives `sink` what earlier attempts of a stage reported before the places at which later ones
/// took it up again: of each metric and rank the points whose steps (epochs, where they have no
/// step) come before the first of any later attempt. What was not to be joined is told: of values
/// without steps nobody knows which were done once more, and only those of the last attempt that
/// has some count.
std::vector<std::string> add_earlier(const collect::StageFiles& files,
                                     const std::vector<spec::MetricSpec>& declared,
                                     base::SeriesSink& sink);

}  // namespace sabath::app

#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/collect/collect.hpp>
#include <sabath/spec/metric.hpp>

#include <vector>

namespace sabath::execution {

/// Extracts what a stage reported that continued from earlier attempts: each attempt gives what no
/// later one repeated (docs/formats/record.md, `earlier_attempts`). Notes name what cannot be
/// joined. The order of samples is that of a part, and is left out.
collect::Extraction extract_joined(const collect::StageFiles& files,
                                   const std::vector<spec::MetricSpec>& declared,
                                   base::SeriesSink& sink);

}  // namespace sabath::execution

#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/collect/collect.hpp>
#include <sabath/spec/metric.hpp>

#include <vector>

namespace sabath::execution {

/// What a stage reported that went on from earlier attempts: each attempt gives what none after it
/// took up again (docs/formats/record.md, `earlier_attempts`). What cannot be joined is told in the
/// notes. The order of samples is that of a part, and left out.
collect::Extraction extract_joined(const collect::StageFiles& files,
                                   const std::vector<spec::MetricSpec>& declared,
                                   base::SeriesSink& sink);

}  // namespace sabath::execution

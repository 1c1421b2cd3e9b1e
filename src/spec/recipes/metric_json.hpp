#pragma once

#include "documents/fields_json.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/metric.hpp>

#include <string>

namespace sabath::spec {

/// The "tolerance" of a metric or an output: none of its numbers may be negative.
Tolerance read_tolerance(base::JsonReader reader);
/// One entry of a recipe's "metrics". A regular expression that is none is a problem.
MetricSpec read_metric(const std::string& name, base::JsonReader reader);

SABATH_DESCRIBE(Tolerance, absolute, relative, ulp);
SABATH_DESCRIBE(SeedPlace, seed, file, line);

template <class Io>
void describe(Io& io, FieldRef<Io, Collected> collected) {
  SABATH_FIELDS(io, collected, parameters, seeds, notes);
  io("seed_places", collected.seed_places, "of the seeds, the lines of the code that report them");
}

template <class Io>
void describe(Io& io, FieldRef<Io, MetricSummary> summary) {
  SABATH_FIELDS(io, summary, stream, name, unit, better, performance, points, not_finite, first);
  SABATH_FIELDS(io, summary, last, min, max, mean, median);
  io("judge", summary.judge, "what the metric is judged by; absent: the last value");
  io("judged", summary.judged, "the value that 'judge' names");
}

}  // namespace sabath::spec

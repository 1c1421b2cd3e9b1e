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

template <class Io>
void describe(Io& io, FieldRef<Io, Tolerance> tolerance) {
  io("absolute", tolerance.absolute);
  io("relative", tolerance.relative);
  io("ulp", tolerance.ulp);
}

template <class Io>
void describe(Io& io, FieldRef<Io, SeedPlace> place) {
  io("seed", place.seed);
  io("file", place.file);
  io("line", place.line);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Collected> collected) {
  io("parameters", collected.parameters);
  io("seeds", collected.seeds);
  io("notes", collected.notes);
  io("seed_places", collected.seed_places);
}

template <class Io>
void describe(Io& io, FieldRef<Io, MetricSummary> summary) {
  io("stream", summary.stream);
  io("name", summary.name);
  io("unit", summary.unit);
  io("better", summary.better);
  io("performance", summary.performance);
  io("points", summary.points);
  io("not_finite", summary.not_finite);
  io("first", summary.first);
  io("last", summary.last);
  io("min", summary.min);
  io("max", summary.max);
  io("mean", summary.mean);
  io("median", summary.median);
}

}  // namespace sabath::spec

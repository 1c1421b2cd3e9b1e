#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/baseline.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineKey> key) {
  io("recipe_definition", key.recipe_definition);
  io("task", key.task, "empty: the stages without one");
  io("parameters", key.parameters, "those that affect the result");
  io("data", key.data, "of the facet");
  io("site", key.site, "'local': no scheduler; '*': any");
  io("device", key.device, "the models of the nodes' GPUs, else CPUs; '*': any");
}

SABATH_DESCRIBE(BaselineRun, run_id, node, created, seed);

template <class Io>
void describe(Io& io, FieldRef<Io, Bounds> bounds) {
  SABATH_FIELDS(io, bounds, low, high);
  io("rule", bounds.rule, "how they were made; 'reviewed': by a person, and they decide alone");
}

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineMetric> metric) {
  io("name", metric.name, "stage/metric");
  SABATH_FIELDS(io, metric, unit, better, performance);
  io("n", metric.n, "finite values; what follows is over them");
  SABATH_FIELDS(io, metric, mean, sd, median);
  io("mad", metric.mad, "median of the distances from the median");
  SABATH_FIELDS(io, metric, min, max, bounds, margin, margin_from);
  io("values",
     metric.values,
     "one of each run, in their order: of a result the last, or what 'judge' names; of performance "
     "the median");
  io("whole",
     metric.whole,
     "of each value all digits where it is a whole number that no double holds, else empty");
  io("judge", metric.judge, "what the values are judged by; absent: the last value of each run");
}

SABATH_DESCRIBE(Acceptance, by, at, note);

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineEntry> entry) {
  io("holds_for", entry.holds_for, "what runs must have in common to be held to it");
  SABATH_FIELDS(io, entry, recipe_digest, selection, sabath_version, runs);
  io("facets", entry.facets, "of code and environment: the digest, or 'several'");
  io("metrics", entry.metrics);
  io("without", entry.without, "declared metrics that not every run had");
  io("notes", entry.notes);
  io("accepted", entry.accepted, "absent: proposed, and nothing is held to it");
}

template <class Io>
void describe(Io& io, FieldRef<Io, ExpectedFailure> failure) {
  SABATH_FIELDS(io, failure, metric, reason);
  io("until", failure.until, "the last day");
  SABATH_FIELDS(io, failure, site, device);
}

SABATH_DESCRIBE(Baseline, recipe, entries, expected_failures);

}  // namespace sabath::spec

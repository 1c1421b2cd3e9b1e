#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/baseline.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineKey> key) {
  io("recipe_definition", key.recipe_definition);
  io("task", key.task);
  io("parameters", key.parameters);
  io("data", key.data);
  io("site", key.site);
  io("device", key.device);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineRun> run) {
  io("run_id", run.run_id);
  io("node", run.node);
  io("created", run.created);
  io("seed", run.seed);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Bounds> bounds) {
  io("low", bounds.low);
  io("high", bounds.high);
  io("rule", bounds.rule);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineMetric> metric) {
  io("name", metric.name);
  io("unit", metric.unit);
  io("better", metric.better);
  io("performance", metric.performance);
  io("n", metric.n);
  io("mean", metric.mean);
  io("sd", metric.sd);
  io("median", metric.median);
  io("mad", metric.mad);
  io("min", metric.min);
  io("max", metric.max);
  io("bounds", metric.bounds);
  io("margin", metric.margin);
  io("margin_from", metric.margin_from);
  io("values", metric.values);
  io("whole", metric.whole);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Acceptance> acceptance) {
  io("by", acceptance.by);
  io("at", acceptance.at);
  io("note", acceptance.note);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BaselineEntry> entry) {
  io("holds_for", entry.holds_for);
  io("recipe_digest", entry.recipe_digest);
  io("selection", entry.selection);
  io("sabath_version", entry.sabath_version);
  io("runs", entry.runs);
  io("facets", entry.facets);
  io("metrics", entry.metrics);
  io("without", entry.without);
  io("notes", entry.notes);
  io("accepted", entry.accepted);
}

template <class Io>
void describe(Io& io, FieldRef<Io, ExpectedFailure> failure) {
  io("metric", failure.metric);
  io("reason", failure.reason);
  io("until", failure.until);
  io("site", failure.site);
  io("device", failure.device);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Baseline> baseline) {
  io("recipe", baseline.recipe);
  io("entries", baseline.entries);
  io("expected_failures", baseline.expected_failures);
}

}  // namespace sabath::spec

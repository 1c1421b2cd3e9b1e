#include "document_json.hpp"

#include <sabath/spec/group_comparison.hpp>

namespace sabath::spec {

// As a comparison of two runs, it is only written.

static void describe(FieldWriter& io, const RunGroup& group) {
  io("levels", group.levels);
  io("runs", group.runs);
}

static void describe(FieldWriter& io, const GroupRow& row) {
  io("values", row.values);
  io("missing", row.missing);
  io("finite", row.finite);
  io("mean", row.mean);
  io("sd", row.sd);
  io("min", row.min);
  io("max", row.max);
  io("distinct", row.distinct);
}

static void describe(FieldWriter& io, const FactorShare& share) {
  io("name", share.name);
  io("levels", share.levels);
  io("sequential", share.sequential);
  io("sequential_freedom", share.sequential_freedom);
  io("partial", share.partial);
  io("partial_freedom", share.partial_freedom);
  io("eta_squared", share.eta_squared);
  io("omega_squared", share.omega_squared);
  io("partial_eta_squared", share.partial_eta_squared);
  io("f", share.f);
  io("p", share.p);
}

static void describe(FieldWriter& io, const VarianceSplit& split) {
  io("n", split.n);
  io("groups", split.groups);
  io("missing_cells", split.missing_cells);
  io("total", split.total);
  io("between", split.between);
  io("within", split.within);
  io("between_freedom", split.between_freedom);
  io("within_freedom", split.within_freedom);
  io("variance_between", split.variance_between);
  io("variance_within", split.variance_within);
  io("icc", split.icc);
  io("factors", split.factors);
  io("residual", split.residual);
  io("residual_freedom", split.residual_freedom);
  io("not_split", split.not_split);
}

static void describe(FieldWriter& io, const ResultClass& one) {
  io("value", one.value);
  io("runs", one.runs);
  io("groups", one.groups);
}

static void describe(FieldWriter& io, const MetricGroups& metric) {
  io("name", metric.name);
  io("unit", metric.unit);
  io("better", metric.better);
  io("performance", metric.performance);
  io("rows", metric.rows);
  io("distinct", metric.distinct);
  io("classes", metric.classes);
  io("identical_within", metric.identical_within);
  io("identical_across", metric.identical_across);
  io("split", metric.split);
  io("judged", metric.judged);
  io("verdict", metric.verdict);
  io("reason", metric.reason);
  io("runs_needed", metric.runs_needed);
}

static void describe(FieldWriter& io, const LeftOut& left_out) {
  io("reason", left_out.reason);
  io("runs", left_out.runs);
}

static void describe(FieldWriter& io, const GroupComparison& comparison) {
  io("recipe", comparison.recipe);
  io("by", comparison.by);
  io("runs", comparison.runs);
  io("imported", comparison.imported);
  io("left_out", comparison.left_out);
  io("notes", comparison.notes);
  io("groups", comparison.groups);
  io("required", comparison.required);
  io("metrics", comparison.metrics);
  io("classes", comparison.classes);
  io("result", comparison.result);
  io("reason", comparison.reason);
}

nlohmann::ordered_json to_json(const GroupComparison& comparison) {
  return document_of(comparison);
}

}  // namespace sabath::spec

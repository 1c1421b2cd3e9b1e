#include "comparison_json.hpp"
#include "documents/document_json.hpp"
#include "run_count_json.hpp"

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

static void describe(FieldWriter& io, const GroupStatistics& statistics) {
  io("difference", statistics.difference);
  io("welch_t", statistics.welch_t);
  io("welch_freedom", statistics.welch_freedom);
  io("welch_p", statistics.welch_p);
  io("welch_p_adjusted", statistics.welch_p_adjusted);
  io("tost_margin", statistics.tost_margin);
  io("tost_p", statistics.tost_p);
  io("tost_low", statistics.tost_low);
  io("tost_high", statistics.tost_high);
  io("hedges_g", statistics.hedges_g);
  io("cliffs_delta", statistics.cliffs_delta);
  io("mann_whitney_u", statistics.mann_whitney_u);
  io("mann_whitney_p", statistics.mann_whitney_p);
  io("mann_whitney_exact", statistics.mann_whitney_exact);
  io("kolmogorov_smirnov_d", statistics.kolmogorov_smirnov_d);
  io("kolmogorov_smirnov_p", statistics.kolmogorov_smirnov_p);
  io("kolmogorov_smirnov_exact", statistics.kolmogorov_smirnov_exact);
  io("hodges_lehmann", statistics.hodges_lehmann);
  io("hodges_lehmann_low", statistics.hodges_lehmann_low);
  io("hodges_lehmann_high", statistics.hodges_lehmann_high);
  io("bootstrap_low", statistics.bootstrap_low);
  io("bootstrap_high", statistics.bootstrap_high);
  io("bootstrap_seed", statistics.bootstrap_seed);
  io("bootstrap_resamples", statistics.bootstrap_resamples);
  io("notes", statistics.notes);
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
  io("prediction_low", metric.prediction_low);
  io("prediction_high", metric.prediction_high);
  io("statistics", metric.statistics);
}

static void describe(FieldWriter& io, const RcpFinding& rcp) {
  io("reading", rcp.reading);
  io("metric", rcp.metric);
  io("batch_size", rcp.batch_size);
  io("reference_runs", rcp.reference_runs);
  io("reference_mean", rcp.reference_mean);
  io("minimum", rcp.minimum);
  io("mean", rcp.mean);
  io("scale", rcp.scale);
  io("interpolated", rcp.interpolated);
  io("verdict", rcp.verdict);
  io("reason", rcp.reason);
  io("seeds", rcp.seeds);
  io("seeds_reason", rcp.seeds_reason);
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
  io("a", comparison.a);
  io("b", comparison.b);
  io("reference", comparison.reference);
  io("performance", comparison.performance);
  io("performance_verdict", comparison.performance_verdict);
  io("performance_reason", comparison.performance_reason);
  io("rcp", comparison.rcp);
}

nlohmann::ordered_json to_json(const GroupComparison& comparison) {
  return document_of(comparison);
}

}  // namespace sabath::spec

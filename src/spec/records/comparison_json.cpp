#include "comparison_json.hpp"

#include "documents/document_json.hpp"
#include "recipes/metric_json.hpp"

#include <sabath/spec/comparison.hpp>

#include <array>

namespace sabath::spec {

// A comparison is only written: whoever wants it again compares again.

static void describe(FieldWriter& io, const FacetDifference& difference) {
  io("facet", difference.facet);
  io("item", difference.item);
  io("a", difference.a);
  io("b", difference.b);
}

static void describe(FieldWriter& io, const CodeDifference& difference) {
  io("path", difference.path);
  io("change", difference.change);
  io("added", difference.added);
  io("removed", difference.removed);
  io("diff", difference.diff);
  io("note", difference.note);
}

static void describe(FieldWriter& io, const Divergence& divergence) {
  io("where", divergence.where);
  io("position", divergence.position);
  io("a", divergence.a);
  io("b", divergence.b);
  io("relative", divergence.relative);
  io("ulps", divergence.ulps);
  io("whole_a", divergence.whole_a);
  io("whole_b", divergence.whole_b);
}

static void describe(FieldWriter& io, const ItemComparison& item) {
  io("name", item.name);
  io("compared", item.compared);
  io("missing", item.missing);
  io("structure", item.structure);
  io("different", item.different);
  io("beyond_tolerance", item.beyond_tolerance);
  io("nan_pairs", item.nan_pairs);
  io("max_ulps", item.max_ulps);
  io("p999_ulps", item.p999_ulps);
  io("max_relative", item.max_relative);
  io("max_absolute", item.max_absolute);
  io("tolerance", item.tolerance);
  io("strongest", item.strongest);
  io("first_bitwise", item.first_bitwise);
  io("first_ulp", item.first_ulp);
  io("first_tolerance", item.first_tolerance);
  io("within_envelope", item.within_envelope);
  io("first_envelope", item.first_envelope);
  io("undecided", item.undecided);
  io("first_beyond_1e-6", item.growth[0]);
  io("first_beyond_1e-4", item.growth[1]);
  io("first_beyond_1e-2", item.growth[2]);
  io("predictions", item.predictions);
  io("churn", item.churn);
  io("comes_back", item.comes_back);
  io("judged", item.judged);
}

void describe(FieldWriter& io, const PerformanceRow& row) {
  io("name", row.name);
  io("unit", row.unit);
  io("median_a", row.median_a);
  io("median_b", row.median_b);
  io("n_a", row.n_a);
  io("n_b", row.n_b);
  io("kind", row.kind);
  io("better", row.better);
  io("median_a_low", row.median_a_low);
  io("median_a_high", row.median_a_high);
  io("median_b_low", row.median_b_low);
  io("median_b_high", row.median_b_high);
  io("cv_a", row.cv_a);
  io("cv_b", row.cv_b);
  io("ratio", row.ratio);
  io("ratio_low", row.ratio_low);
  io("ratio_high", row.ratio_high);
  io("margin", row.margin);
  io("verdict", row.verdict);
  io("reason", row.reason);
}

static void describe(FieldWriter& io, const Comparison& comparison) {
  io("a", comparison.a);
  io("b", comparison.b);
  io("repetition", comparison.repetition);
  io("differences", comparison.differences);
  io("environment", comparison.environment);
  io("code", comparison.code);
  io("code_note", comparison.code_note);
  io("metrics", comparison.metrics);
  io("outputs", comparison.outputs);
  io("performance", comparison.performance);
  io("strongest", comparison.strongest);
  io("required", comparison.required);
  io("required_from", comparison.required_from);
  io("result", comparison.result);
  io("reason", comparison.reason);
  io("first_divergence", comparison.first_divergence);
  io("first_divergence_in", comparison.first_divergence_in);
  io("likely_cause", comparison.likely_cause);
  io("performance_verdict", comparison.performance_verdict);
  io("performance_reason", comparison.performance_reason);
  io("reference", comparison.reference);
  io("envelope_runs", comparison.envelope_runs);
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
  return document_of(comparison);
}

}  // namespace sabath::spec

#pragma once

#include <sabath/spec/metric.hpp>
#include <sabath/spec/output_rule.hpp>
#include <sabath/spec/recipe.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::compare {

/// Rules of the recipes for a comparison: of one run, or of both (`merged_rules`).
struct Rules {
  std::vector<spec::MetricSpec> metrics{};
  std::map<std::string, spec::OutputRule> outputs{};  ///< by declared path
  std::optional<spec::Rung> require{};
  /// Rules of B's recipe for outputs, where these differ; `outputs` are A's then.
  std::optional<std::map<std::string, spec::OutputRule>> outputs_of_b{};
  /// Metrics for which the recipes contradict each other, with the reason. These are not evaluated.
  std::map<std::string, std::string> conflicts{};
};

/// The smaller tolerance of two for a float64. Every part of the result is set.
spec::Tolerance smaller_tolerance(const spec::Tolerance& a, const spec::Tolerance& b);

/// Contradictions of two declarations of one metric, in what a verdict depends on. The key names
/// what cannot be judged: the metric, or its time to the target.
std::map<std::string, std::string> conflicts_of(const spec::MetricSpec& a,
                                                const spec::MetricSpec& b);

/// Rules for two runs, whose recipes may differ. What either recipe declares is judged, by the
/// smaller tolerance and the stronger rung. Symmetric except that `outputs_of_b` depends on the
/// order.
Rules merged_rules(const Rules& a, const Rules& b);

/// Whether the metric belongs to a stage that the run lacks (another task's), or that was not due.
bool is_elsewhere(const spec::MetricSpec& metric, const spec::RunRecord& record);

}  // namespace sabath::compare

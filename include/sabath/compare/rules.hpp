#pragma once

#include <sabath/spec/metric.hpp>
#include <sabath/spec/recipe.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// What recipes say of a comparison: that of one run, or those of both (`merged_rules`).
struct Rules {
  std::vector<spec::MetricSpec> metrics{};
  std::map<std::string, spec::OutputRule> outputs{};  ///< by declared path
  std::optional<spec::Rung> require{};
  /// What B's recipe says of outputs, where it says something else; `outputs` are A's then.
  std::optional<std::map<std::string, spec::OutputRule>> outputs_of_b{};
  /// Metrics of which the recipes say what cannot both hold, and what: these are not evaluated.
  std::map<std::string, std::string> conflicts{};
};

/// What both say of a float64, with every part filled in: where they differ, the smaller counts.
spec::Tolerance smaller_tolerance(const spec::Tolerance& a, const spec::Tolerance& b);

/// What two declarations of one metric say that cannot both hold, of what a judgement goes by: by
/// the name of what cannot be judged then, which is the metric or its time to the target.
std::map<std::string, std::string> conflicts_of(const spec::MetricSpec& a,
                                                const spec::MetricSpec& b);

/// The rules of two runs, whose recipes may say different things. What either declares is judged,
/// by the smaller tolerance and the stronger rung; what one does not say is what it is by default.
/// Symmetric but for which of the two `outputs_of_b` are of.
Rules merged_rules(const Rules& a, const Rules& b);

}  // namespace sabath::compare

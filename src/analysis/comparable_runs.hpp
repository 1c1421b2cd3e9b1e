#pragma once

#include <sabath/analysis/groups_request.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

/// Common terms of the recipe documents of runs, which may differ for one definition. No document
/// has priority.
struct CommonTerms {
  /// The smaller margin and tolerance of each metric.
  std::vector<spec::MetricSpec> declared{};
  std::optional<spec::Rung> require{};  ///< the strongest
  std::set<std::string> parameters{};
  std::set<std::string> execution{};  ///< affect only the execution
  std::set<std::string> elsewhere{};  ///< metrics of stages that no run had
  std::vector<std::string> notes{};   ///< differences between the documents
  /// Metrics for which the documents contradict each other, with the reason.
  std::map<std::string, std::string> conflicts{};
};

/// Returns the runs that count; adds the others to `comparison` with the reason.
std::vector<catalog::RunRow> complete_runs(const std::vector<catalog::RunRow>& runs,
                                           const GroupsRequest& request,
                                           const catalog::Catalog& catalog,
                                           spec::GroupComparison& comparison);

/// Returns the common terms, if all runs may be compared. Else `partial` has the reason.
std::optional<CommonTerms> comparable(const std::vector<catalog::RunRow>& runs,
                                      const std::set<std::string>& allowed,
                                      const catalog::Catalog& catalog,
                                      spec::GroupComparison& partial);

/// Task of each run; empty: none.
std::vector<std::string> tasks_of(const std::vector<catalog::RunRow>& runs);

bool varies(const std::vector<std::string>& values);

}  // namespace sabath::analysis

#pragma once

#include <sabath/analysis/compare_groups.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

/// What the recipe documents of runs say together: they may say other things of one definition,
/// and none of them is the first.
struct CommonTerms {
  /// Of each metric the smaller margin and the smaller tolerance.
  std::vector<spec::MetricSpec> declared{};
  std::optional<spec::Rung> require{};  ///< the strongest
  std::set<std::string> parameters{};
  std::set<std::string> execution{};  ///< parameters that all say affect the execution only
  std::set<std::string> elsewhere{};  ///< metrics of stages that none of the runs had
  std::vector<std::string> notes{};   ///< where the documents say other things
  /// Metrics of which they say what cannot both hold, and what.
  std::map<std::string, std::string> conflicts{};
};

/// The runs that count; the others are listed in `comparison` with the reason.
std::vector<catalog::RunRow> complete_runs(const std::vector<catalog::RunRow>& runs,
                                           const GroupsRequest& request,
                                           const catalog::Catalog& catalog,
                                           spec::GroupComparison& comparison);

/// What holds for all, if all may be compared; else `told` says why not.
std::optional<CommonTerms> comparable(const std::vector<catalog::RunRow>& runs,
                                      const std::set<std::string>& allowed,
                                      const catalog::Catalog& catalog,
                                      spec::GroupComparison& told);

/// The task of each run; empty: none.
std::vector<std::string> tasks_of(const std::vector<catalog::RunRow>& runs);

/// Are there two different ones?
bool varies(const std::vector<std::string>& values);

}  // namespace sabath::analysis

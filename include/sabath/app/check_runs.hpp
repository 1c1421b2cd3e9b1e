#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::app {

struct CheckRequest {
  std::string what{};                        ///< as it was typed
  std::optional<spec::Baseline> baseline{};  ///< nothing: runs are held against one another
  std::string file{};                        ///< that it is from
  std::optional<spec::Rung> require{};
  bool results = true;
  bool performance = true;
  std::vector<std::string> not_run{};  ///< what was asked for and has no run, in words
  base::WallTime now{};                ///< for what is expected to fail
  analysis::NamedRuns named{};
};

/// The verdict on runs that need not be made, as no accepted entry of the baseline can hold for
/// them: of what is `asked`, data and device are not known yet (empty). Nothing where one may.
std::optional<spec::CheckReport> refuse_before_runs(const std::string& recipe,
                                                    const std::vector<spec::BaselineKey>& asked,
                                                    const CheckRequest& request);

/// Judges every declared metric of the runs: against the accepted entry for the same recipe
/// definition, parameters, data, site and device, as compare::judge_result and judge_performance
/// say; without a baseline each with the first of its seed, by the whole ladder, outputs too. A run
/// that failed is a FAIL; one that is missing, interrupted or imported, and a declared metric that
/// is not there, leave at best INCONCLUSIVE; so does nothing to judge. Throws as compare_pair.
spec::CheckReport check_runs(const std::vector<catalog::RunRow>& rows,
                             const CheckRequest& request,
                             const catalog::Catalog& catalog);

}  // namespace sabath::app

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
  std::string what{};                        ///< as typed
  std::optional<spec::Baseline> baseline{};  ///< nothing: compare runs with one another
  std::string file{};                        ///< of the baseline
  std::optional<spec::Rung> require{};
  bool results = true;
  bool performance = true;
  std::vector<std::string> not_run{};  ///< requested runs that do not exist, in words
  base::WallTime now{};                ///< for expected failures
  analysis::NamedRuns named{};
};

/// Returns the verdict on runs that need not be made, since no accepted entry of the baseline can
/// hold for them. Data and device of `asked` are unknown yet (empty). Returns nothing where an
/// entry may hold.
std::optional<spec::CheckReport> refuse_before_runs(const std::string& recipe,
                                                    const std::vector<spec::BaselineKey>& asked,
                                                    const CheckRequest& request);

/// Judges every declared metric of the runs. With a baseline: against the accepted entry for the
/// same recipe definition, parameters, data, site and device, as compare::judge_result and
/// judge_performance say. Without: each run against the first of its seed, by the whole ladder,
/// with outputs. A failed run is a FAIL. A missing, interrupted or imported run, a missing declared
/// metric, and nothing to judge leave at best INCONCLUSIVE. Throws as compare_pair.
spec::CheckReport check_runs(const std::vector<catalog::RunRow>& rows,
                             const CheckRequest& request,
                             const catalog::Catalog& catalog);

}  // namespace sabath::app

#pragma once

#include "verdict.hpp"

#include <sabath/compare/compare_groups.hpp>
#include <sabath/compare/compare_runs.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// The usual table and the verdict of each row: total time, time per epoch and per step, the other
/// declared metrics of performance with a row for each stage that reported one (over the finite
/// values that come after the warm-up of each rank; a side without any has n = 0 and NaN), times to
/// targets, the last value of validation losses, and the energy of GPUs. A row is judged from
/// `fewest_steps` values a side on; of several ranks by the mean of their logarithms at each step.
/// The intervals of all judged rows hold together at 95 % (Bonferroni). On a machine that was not
/// quiet no row passes or fails.
std::vector<spec::PerformanceRow> performance_rows(const Side& a,
                                                   const Side& b,
                                                   const Rules& rules,
                                                   const Options& options);

/// FAIL where a row fails, else INCONCLUSIVE where one is, or none is judged; runs that are not
/// complete are never judged.
Judgement judge_performance(const Side& a,
                            const Side& b,
                            const std::vector<spec::PerformanceRow>& rows);

/// How a row is judged.
struct SpeedRule {
  SpeedMargin margin{};
  std::optional<ReferenceSide> reference{};
  Draws draws = Draws::runs;
  double alpha = 0.05;
};

/// One row of two groups of values. What each side has just once is told and not judged; what only
/// one side has is never forgotten.
spec::PerformanceRow performance_row(const std::string& name,
                                     const std::string& unit,
                                     spec::Better better,
                                     const std::vector<double>& a,
                                     const std::vector<double>& b,
                                     const SpeedRule& rule);

/// The same, told and not judged: quality, and energy.
spec::PerformanceRow told_row(const std::string& name,
                              const std::string& unit,
                              spec::Better better,
                              const std::vector<double>& a,
                              const std::vector<double>& b);

/// Of a row the recipes say what cannot both hold: it is told, and not judged.
void put_in_conflict(spec::PerformanceRow& row, const std::string& conflict);

/// Of a metric's name, without the stage.
bool is_validation_loss(std::string name);

/// The same of groups of runs: a value of each run.
Judgement judge_rows(const std::vector<spec::PerformanceRow>& rows, const SpeedMargin& margin);

/// The order of a table: total time, speeds, times to targets, quality.
void sort_rows(std::vector<spec::PerformanceRow>& rows);

}  // namespace sabath::compare

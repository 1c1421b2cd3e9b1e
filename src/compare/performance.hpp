#pragma once

#include "verdict.hpp"

#include <sabath/compare/comparison_input.hpp>
#include <sabath/compare/rules.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// Rows of the performance table, each with its verdict. They are total time, time per epoch and
/// per step, other declared metrics of performance, times to targets, the value that validation
/// losses are judged by, and energy of GPUs. A metric has a row for each stage that reported it,
/// over the finite values after the warm-up of each rank. A side without any has n = 0 and NaN.
///
/// A row is judged from `fewest_steps` values a side on; several ranks by the mean of their
/// logarithms at each step. The intervals of all judged rows hold together at 95 % (Bonferroni). On
/// a machine that was not quiet no row passes or fails.
std::vector<spec::PerformanceRow> performance_rows(const PairToCompare& pair);

/// Judges a pair: FAIL where a row fails, else INCONCLUSIVE where one is or none is judged. Runs
/// that are not complete are never judged.
Judgement judge_performance(const Side& a,
                            const Side& b,
                            const std::vector<spec::PerformanceRow>& rows);

/// Values of two sides, for one row.
struct RowValues {
  std::string name{};
  std::string unit{};
  spec::Better better = spec::Better::none;
  std::vector<double> a{};
  std::vector<double> b{};
};

/// Rule for one row.
struct SpeedRule {
  SpeedMargin margin{};
  std::optional<ReferenceSide> reference{};
  Draws draws = Draws::runs;
  double alpha = 0.05;
};

/// Makes and judges one row of two groups of values. With one value a side the row is shown and not
/// judged. A metric that only one side has is kept.
spec::PerformanceRow performance_row(const RowValues& values, const SpeedRule& rule);

/// Makes a row that is shown and not judged: quality, and energy.
spec::PerformanceRow shown_row(const RowValues& values);

/// On a machine that was not quiet no row passes or fails.
void withhold(std::vector<spec::PerformanceRow>& rows);

/// Marks a row for which the recipes contradict each other: it is shown and not judged.
void put_in_conflict(spec::PerformanceRow& row, const std::string& conflict);

/// `name` is without the stage.
bool is_validation_loss(std::string name);

/// Judges rows of groups of runs: a value of each run.
Judgement judge_rows(const std::vector<spec::PerformanceRow>& rows, const SpeedMargin& margin);

/// Sorts rows: total time, speeds, times to targets, quality.
void sort_rows(std::vector<spec::PerformanceRow>& rows);

}  // namespace sabath::compare

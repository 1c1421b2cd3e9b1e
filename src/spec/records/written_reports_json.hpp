#pragma once

#include "baseline_json.hpp"
#include "documents/fields_json.hpp"
#include "recipes/metric_json.hpp"

#include <sabath/spec/check_report.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/run_count.hpp>

namespace sabath::spec {

SABATH_DESCRIBE(LeftOut, reason, runs);
SABATH_DESCRIBE(RunCount, all, counted, left_out);

SABATH_DESCRIBE(FacetDifference, facet, item, a, b);
SABATH_DESCRIBE(CodeDifference, path, change, added, removed, diff, note);
SABATH_DESCRIBE(Divergence, where, position, a, b, relative, ulps, whole_a, whole_b);

template <class Io>
void describe(Io& io, FieldRef<Io, ItemComparison> item) {
  SABATH_FIELDS(io, item, name, compared, missing, structure, different, beyond_tolerance);
  SABATH_FIELDS(io, item, nan_pairs, max_ulps, p999_ulps, max_relative, max_absolute, tolerance);
  SABATH_FIELDS(io, item, strongest, first_bitwise, first_ulp, first_tolerance, within_envelope);
  SABATH_FIELDS(io, item, first_envelope);
  io("undecided", item.undecided, "why it cannot be said whether the rungs below bitwise hold");
  io("first_beyond_1e-6", item.growth[0]);
  io("first_beyond_1e-4", item.growth[1]);
  io("first_beyond_1e-2", item.growth[2]);
  io("predictions",
     item.predictions,
     "of an array that the recipe calls predictions: how many there are");
  io("churn", item.churn, "the share of them that are others in B");
  SABATH_FIELDS(io, item, comes_back, judged);
}

template <class Io>
void describe(Io& io, FieldRef<Io, PerformanceRow> row) {
  SABATH_FIELDS(io, row, name, unit, median_a, median_b, n_a, n_b, kind, better, median_a_low);
  SABATH_FIELDS(io, row, median_a_high, median_b_low, median_b_high, cv_a, cv_b, ratio, ratio_low);
  SABATH_FIELDS(io, row, ratio_high, margin, verdict, reason);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Comparison> comparison) {
  SABATH_FIELDS(io, comparison, a, b, repetition, differences, environment, code, code_note);
  SABATH_FIELDS(io, comparison, metrics, outputs, performance, strongest, required, required_from);
  SABATH_FIELDS(io, comparison, result, reason, first_divergence, first_divergence_in);
  SABATH_FIELDS(io, comparison, likely_cause, performance_verdict, performance_reason, reference);
  SABATH_FIELDS(io, comparison, envelope_runs);
}

SABATH_DESCRIBE(RunGroup, levels, runs);
SABATH_DESCRIBE(GroupRow, values, missing, finite, mean, sd, min, max, distinct);

template <class Io>
void describe(Io& io, FieldRef<Io, FactorShare> share) {
  SABATH_FIELDS(io, share, name, levels, sequential, sequential_freedom, partial, partial_freedom);
  SABATH_FIELDS(io, share, eta_squared, omega_squared, partial_eta_squared, f, p);
}

template <class Io>
void describe(Io& io, FieldRef<Io, VarianceSplit> split) {
  SABATH_FIELDS(io, split, n, groups, missing_cells, total, between, within, between_freedom);
  SABATH_FIELDS(io, split, within_freedom, variance_between, variance_within, icc, factors);
  SABATH_FIELDS(io, split, residual, residual_freedom, not_split);
}

SABATH_DESCRIBE(ResultClass, value, runs, groups);

template <class Io>
void describe(Io& io, FieldRef<Io, GroupStatistics> statistics) {
  SABATH_FIELDS(io, statistics, difference, welch_t, welch_freedom, welch_p, welch_p_adjusted);
  SABATH_FIELDS(io, statistics, tost_margin, tost_p, tost_low, tost_high, hedges_g, cliffs_delta);
  SABATH_FIELDS(io, statistics, mann_whitney_u, mann_whitney_p, mann_whitney_exact);
  SABATH_FIELDS(io, statistics, kolmogorov_smirnov_d, kolmogorov_smirnov_p);
  SABATH_FIELDS(io, statistics, kolmogorov_smirnov_exact, hodges_lehmann, hodges_lehmann_low);
  SABATH_FIELDS(io, statistics, hodges_lehmann_high, bootstrap_low, bootstrap_high, bootstrap_seed);
  SABATH_FIELDS(io, statistics, bootstrap_resamples, notes);
}

template <class Io>
void describe(Io& io, FieldRef<Io, MetricGroups> metric) {
  SABATH_FIELDS(io, metric, name, unit, better, performance, rows, distinct, classes);
  SABATH_FIELDS(io, metric, identical_within, identical_across, split, judged, verdict, reason);
  SABATH_FIELDS(io, metric, runs_needed, prediction_low, prediction_high, statistics);
  io("judge", metric.judge, "what the runs are judged by; absent: the last value of each");
}

template <class Io>
void describe(Io& io, FieldRef<Io, RcpFinding> rcp) {
  SABATH_FIELDS(io, rcp, reading, metric, batch_size, reference_runs, reference_mean, minimum);
  SABATH_FIELDS(io, rcp, mean, scale, interpolated, verdict, reason, seeds, seeds_reason);
}

SABATH_DESCRIBE(Change, name, a, b);

template <class Io>
void describe(Io& io, FieldRef<Io, BetterFinding> better) {
  SABATH_FIELDS(io, better, metric, better, paired, n_a, n_b, pairs, mean_a, mean_b, difference);
  io("low", better.low, "interval of the difference at 90 %");
  SABATH_FIELDS(io, better, high, p_better, p_worse);
  io("runs_needed", better.runs_needed, "a side, that would decide an INCONCLUSIVE");
  io("parameters", better.parameters, "that differ between the sides");
  SABATH_FIELDS(io, better, verdict, reason);
}

template <class Io>
void describe(Io& io, FieldRef<Io, GroupComparison> comparison) {
  SABATH_FIELDS(io, comparison, recipe, by, runs, imported, left_out, notes, groups, required);
  SABATH_FIELDS(io, comparison, metrics, classes, result, reason, a, b, reference, performance);
  SABATH_FIELDS(io, comparison, performance_verdict, performance_reason, rcp, better);
}

template <class Io>
void describe(Io& io, FieldRef<Io, RankedGroup> group) {
  io("place", group.place, "1 for the best group and those tied with it");
  SABATH_FIELDS(io, group, levels, standing, runs);
  io("n", group.n, "distinct seeds; each run where seeds are not known");
  SABATH_FIELDS(io, group, mean, sd);
  io("low", group.low, "interval of the mean at 95 %");
  SABATH_FIELDS(io, group, high);
  io("difference", group.difference, "from the best group; absent for the best");
  io("difference_low", group.difference_low, "interval of the difference at 95 %");
  SABATH_FIELDS(io, group, difference_high);
  io("pairs", group.pairs, "seeds that both groups have; 0: the groups are not paired");
  io("p", group.p, "of no difference");
  io("p_adjusted", group.p_adjusted, "by Holm, over all pairs of groups");
  io("tost_p", group.tost_p, "of a difference of the margin or more");
  io("runs_needed", group.runs_needed, "a group, that would decide");
  io("reason", group.reason);
}

SABATH_DESCRIBE(ExcludedGroup, levels, runs, reason);

template <class Io>
void describe(Io& io, FieldRef<Io, Ranking> ranking) {
  SABATH_FIELDS(io, ranking, recipe, metric, unit);
  io("judge", ranking.judge, "what the runs are judged by; absent: the last value of each");
  SABATH_FIELDS(io, ranking, better, performance, by);
  io("rules", ranking.rules, "the file; empty: none");
  SABATH_FIELDS(io, ranking, margin, margin_from, runs, imported, left_out, notes, groups);
  SABATH_FIELDS(io, ranking, excluded);
  io("result", ranking.result, "ranked, tied, undecided or none");
  SABATH_FIELDS(io, ranking, reason);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Hybrid> hybrid) {
  SABATH_FIELDS(io, hybrid, changes, run, reused, verdict, reason);
  io("against_b", hybrid.against_b, "Absent where the run has no result.");
}

template <class Io>
void describe(Io& io, FieldRef<Io, SufficientChanges> sufficient) {
  io("changes", sufficient.changes);
  io("minimal", sufficient.minimal, "Each part of the set was tried and agrees with A.");
  io("confirmed", sufficient.confirmed, "One more run came out as before.");
}

template <class Io>
void describe(Io& io, FieldRef<Io, UntriedChanges> untried) {
  io("sets", untried.sets, "How many; 2^53 stands for more.");
  io("smallest", untried.smallest, "100 of them at most.");
  io("runs",
     untried.runs,
     "To try all sets and confirm what was found; fewer are enough where a set that differs is a "
     "part of others.");
  io("seconds",
     untried.seconds,
     "Of these runs, as long as those that were made; absent without any.");
  io("most_runs",
     untried.most_runs,
     "As `runs`, if each of these sets differs and is confirmed: a budget that is enough.");
}

template <class Io>
void describe(Io& io, FieldRef<Io, Explanation> explanation) {
  SABATH_FIELDS(io, explanation, a, b, verdict, verdict_reason, changes, impossible, hybrids);
  io("sufficient",
     explanation.sufficient,
     "The smallest sets of changes with which A was seen not to agree with A. None contains "
     "another.");
  io("complete",
     explanation.complete,
     "`sufficient` has all minimal sets, apart from those in `failed`, which are unknown.");
  io("assumed", explanation.assumed, "What `complete` rests on.");
  io("necessary",
     explanation.necessary,
     "Changes in every minimal set; empty unless `complete`. Absent where a set in `failed` could "
     "change it: `maybe_necessary` is there instead.");
  io("maybe_necessary",
     explanation.maybe_necessary,
     "Changes in every minimal set that is known; not necessary where a set in `failed` without "
     "them is sufficient, too.");
  io("masking", explanation.masking, "Sets that agree with A, although a part of them does not.");
  io("failed",
     explanation.failed,
     "Sets whose run failed: whether they are sufficient is unknown.");
  io("unresolved", explanation.unresolved, "Sets without a verdict.");
  io("untried",
     explanation.untried,
     "What was not tried and could be sufficient, and what that costs.");
  io("cause",
     explanation.cause,
     "The only minimal sufficient set, where `complete` and there is one alone; else empty.");
  io("reason", explanation.reason);
}

SABATH_DESCRIBE(CaseFigures, baseline, now, difference, limit);

template <class Io>
void describe(Io& io, FieldRef<Io, CheckCase> one) {
  SABATH_FIELDS(io, one, kind, name, verdict);
  io("counts_as", one.counts_as());
  io("test", one.test, "by what; empty: it did not come to one");
  SABATH_FIELDS(io, one, reason, expectation, wall_s);
  io("judge", one.judge, "what the baseline's values are judged by; absent: the last value");
  io("figures", one.figures, "for tables of people; absent: nothing was compared");
}

template <class Io>
void describe(Io& io, FieldRef<Io, CheckGroup> group) {
  SABATH_FIELDS(io, group, recipe, of, runs, against, cases, notes, result, performance, verdict);
  SABATH_FIELDS(io, group, reason);
}

template <class Io>
void describe(Io& io, FieldRef<Io, CheckReport> report) {
  io("what", report.what);
  io("baseline", report.baseline, "its file; empty: none");
  io("count",
     report.runs,
     "how many of the runs count; without it nothing was run; docs/commands/selections.md");
  SABATH_FIELDS(io, report, groups, notes, result, performance, verdict, reason);
}

}  // namespace sabath::spec

#include "performance.hpp"

#include "statistics/run_speed.hpp"

#include <sabath/compare/performance_facts.hpp>
#include <sabath/compare/rank_tests.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sabath::compare {
namespace {

using spec::PerformanceKind;
using spec::PerformanceRow;

// ---- what the runs say

/// Values after the warm-up, by rank, in order of time.
using RankValues = std::map<std::int32_t, std::vector<double>>;

RankValues after_warmup(const spec::Series& series, int warmup) {
  std::map<std::int32_t, int> seen;
  RankValues values;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (seen[series.rank[i]] < warmup) {
      ++seen[series.rank[i]];
    } else if (std::isfinite(series.value[i])) {
      values[series.rank[i]].push_back(series.value[i]);
    }
  }
  return values;
}

std::vector<double> joined(const RankValues& ranks) {
  std::vector<double> values;
  for (const auto& [rank, own] : ranks)
    values.insert(values.end(), own.begin(), own.end());
  return values;
}

/// One value a step: the geometric mean over the ranks, as long as all have one. A value that is
/// not above zero stays so.
std::vector<double> steps_of(const RankValues& ranks) {
  if (ranks.empty()) return {};
  if (ranks.size() == 1) return ranks.begin()->second;
  std::size_t length = ranks.begin()->second.size();
  for (const auto& [rank, own] : ranks)
    length = std::min(length, own.size());
  std::vector<double> steps(length, 0);
  for (const auto& [rank, own] : ranks) {
    for (std::size_t i = 0; i < length; ++i)
      steps[i] += std::log(own[i]) / static_cast<double>(ranks.size());
  }
  for (double& step : steps)
    step = std::exp(step);
  return steps;
}

const spec::Series* find(const Side& side, const std::string& stream, const std::string& name) {
  for (const spec::Series& series : side.series) {
    if (series.stream == stream && series.name == name) return &series;
  }
  return nullptr;
}

RankValues values_of(const Side& side, const std::string& stream, const spec::MetricSpec& metric) {
  const spec::Series* series = find(side, stream, metric.name);
  return series == nullptr ? RankValues{} : after_warmup(*series, metric.warmup);
}

std::vector<double> last_value_of(const Side& side,
                                  const std::string& stream,
                                  const spec::MetricSpec& metric) {
  const spec::Series* series = find(side, stream, metric.name);
  if (series == nullptr || series->size() == 0) return {};
  // As in the record's summary: of the lowest rank that reports.
  const std::int32_t rank = *std::ranges::min_element(series->rank);
  std::size_t last = series->size() - 1;
  while (series->rank[last] != rank)
    --last;
  return {series->value[last]};
}

/// Null where the run has none of it.
const spec::MetricSummary* summary_of(const Side& side,
                                      const std::string& stream,
                                      const std::string& name) {
  const auto found = std::ranges::find_if(side.record.metrics, [&](const auto& metric) {
    return metric.stream == stream && metric.name == name;
  });
  return found == side.record.metrics.end() ? nullptr : &*found;
}

/// The value that each run is judged by; the last ones where the runs are judged by several.
RowValues quality_of(const Side& a,
                     const Side& b,
                     const std::string& stream,
                     const spec::MetricSpec& metric) {
  const std::string name = stream + "/" + metric.name;
  const spec::MetricSummary* const of_a = summary_of(a, stream, metric.name);
  const spec::MetricSummary* const of_b = summary_of(b, stream, metric.name);
  const spec::MetricSummary* const any = of_a != nullptr ? of_a : of_b;
  const bool is_one = of_a == nullptr || of_b == nullptr || of_a->judge == of_b->judge;
  if (any == nullptr || !any->judge || !is_one) {
    return {name,
            metric.unit,
            metric.better,
            last_value_of(a, stream, metric),
            last_value_of(b, stream, metric)};
  }
  const auto value = [](const spec::MetricSummary* summary) {
    return summary == nullptr ? std::vector<double>{}
                              : std::vector<double>{spec::judged_value(*summary)};
  };
  return {spec::shown_title(name, "", false, any->judge),
          metric.unit,
          metric.better,
          value(of_a),
          value(of_b)};
}

std::vector<double> joules_of(const spec::RunRecord& record) {
  const auto joules = accelerator_joules(record);
  return joules ? std::vector<double>{*joules} : std::vector<double>{};
}

// ---- where they ran

SpeedPlaces places_of(const spec::RunRecord& record) {
  SpeedPlaces places;
  for (const spec::HostFacts& host : record.hosts) {
    places.nodes.insert(host.node);
    places.models.insert(host.cpu.model);
    for (const spec::GpuFacts& gpu : host.gpus)
      places.models.insert(gpu.name);
  }
  return places;
}

SpeedMargin margin_between(const Side& a, const Side& b) {
  return speed_margin_between(places_of(a.record), places_of(b.record));
}

// ---- rows

std::optional<double> variation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  return moments(values).variation();
}

/// Returns nothing unless both are above zero: otherwise a ratio is meaningless.
std::optional<double> turned_ratio(double a, double b, spec::Better better) {
  if (!(a > 0) || !(b > 0)) return std::nullopt;
  const double ratio = better == spec::Better::higher ? a / b : b / a;
  if (!std::isfinite(ratio)) return std::nullopt;
  return ratio;
}

PerformanceRow row_of(const RowValues& values) {
  const auto& [name, unit, better, a, b] = values;
  PerformanceRow row;
  row.name = name;
  row.unit = unit;
  row.better = better;
  row.median_a = median(a);
  row.median_b = median(b);
  row.n_a = a.size();
  row.n_b = b.size();
  if (const auto interval = median_interval(a)) {
    row.median_a_low = interval->low;
    row.median_a_high = interval->high;
  }
  if (const auto interval = median_interval(b)) {
    row.median_b_low = interval->low;
    row.median_b_high = interval->high;
  }
  row.cv_a = variation(a);
  row.cv_b = variation(b);
  row.ratio = turned_ratio(row.median_a, row.median_b, better);
  return row;
}

SpeedVerdict judged_speed(const std::vector<double>& a,
                          const std::vector<double>& b,
                          spec::Better better,
                          const SpeedRule& rule) {
  const double margin = rule.margin.value;
  if (!rule.reference) return judge_speed_of_peers(a, b, better, margin, rule.alpha, rule.draws);
  if (*rule.reference == ReferenceSide::a)
    return judge_speed(a, b, better, margin, rule.alpha, rule.draws);
  SpeedVerdict verdict = judge_speed(b, a, better, margin, rule.alpha, rule.draws);
  if (verdict.interval)
    verdict.interval = Interval{1 / verdict.interval->high, 1 / verdict.interval->low};
  return verdict;
}

bool has_enough_steps(const std::vector<double>& a, const std::vector<double>& b) {
  return std::min(a.size(), b.size()) >= fewest_steps;
}

void judge_row(PerformanceRow& row,
               const std::vector<double>& a,
               const std::vector<double>& b,
               const SpeedRule& rule) {
  if (a.empty() && b.empty()) {
    row.reason = "no value after the warm-up";
    return;
  }
  if (a.size() == 1 && b.size() == 1) {
    row.reason = "one value a side shows no spread";
    return;
  }
  if (rule.draws == Draws::steps && !a.empty() && !b.empty() && !has_enough_steps(a, b)) {
    row.reason = fmt::format("fewer than {} values of each run", fewest_steps);
    return;
  }
  row.margin = rule.margin.value;
  const SpeedVerdict speed = judged_speed(a, b, row.better, rule);
  row.verdict = speed.verdict;
  row.reason =
      a.empty() || b.empty() ? fmt::format("only in {}", a.empty() ? "B" : "A") : speed.reason;
  if (!speed.interval) return;
  row.ratio_low = speed.interval->low;
  row.ratio_high = speed.interval->high;
}

template <class Fits>
std::set<std::string> stages_of(const Side& a, const Side& b, const Fits& fits) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b}) {
    for (const spec::StageRecord& stage : side->record.stages) {
      if (fits(stage)) names.insert(stage.name);
    }
  }
  return names;
}

/// Only the last attempt of a continued stage is measured.
void leave_out_parts(const Side& a, const Side& b, PerformanceRow& row) {
  const std::set<std::string> names = stages_of(
      a, b, [](const spec::StageRecord& stage) { return stage.earlier_attempts.has_value(); });
  if (names.empty()) return;
  row.ratio = std::nullopt;
  row.reason += fmt::format("{}the last attempt alone of what went on from others: {}",
                            row.reason.empty() ? "" : "; ",
                            fmt::join(names, ", "));
}

PerformanceRow total_time(const Side& a, const Side& b) {
  PerformanceRow row =
      row_of({total_time_name, "s", spec::Better::lower, {a.record.wall_s}, {b.record.wall_s}});
  row.kind = PerformanceKind::whole_run;
  // Stages from the cache took no time in this run.
  const std::set<std::string> reused =
      stages_of(a, b, [](const spec::StageRecord& stage) { return stage.state == "reused"; });
  if (!reused.empty())
    row.reason = fmt::format("without stages that were reused: {}", fmt::join(reused, ", "));
  leave_out_parts(a, b, row);
  return row;
}

void add_energy(const Side& a, const Side& b, std::vector<PerformanceRow>& rows) {
  const std::vector<double> of_a = joules_of(a.record);
  const std::vector<double> of_b = joules_of(b.record);
  if (of_a.empty() && of_b.empty()) return;
  rows.push_back(shown_row({energy_name, "J", spec::Better::lower, of_a, of_b}));
  leave_out_parts(a, b, rows.back());
}

PerformanceKind kind_of(const std::string& name) {
  if (name == total_time_name || name == energy_name) return PerformanceKind::whole_run;
  const bool to_target = name.find("/" + spec::seconds_to_target("")) != std::string::npos;
  return to_target ? PerformanceKind::time_to_quality : PerformanceKind::speed;
}

/// Total time, speeds, times to targets, quality, energy; within these as declared, what is derived
/// before the rest, since every recipe has it.
int order_of(const PerformanceRow& row) {
  const bool is_usual = row.name.find("/derived/") != std::string::npos;
  return 2 * static_cast<int>(row.kind) + (is_usual ? 0 : 1);
}

struct SpeedRow {
  const spec::MetricSpec* metric = nullptr;
  std::string stream{};
  RankValues a{};
  RankValues b{};
};

std::set<std::string> streams_of(const Side& a, const Side& b, const std::string& metric) {
  std::set<std::string> streams;
  for (const auto* side : {&a, &b}) {
    for (const spec::Series& series : side->series) {
      if (series.name == metric) streams.insert(series.stream);
    }
  }
  return streams;
}

/// Each interval uses alpha / rows, so that all hold together (Bonferroni).
void add_speeds(const std::vector<SpeedRow>& speeds,
                SpeedRule rule,
                const Rules& rules,
                std::vector<PerformanceRow>& rows) {
  const auto judged = std::ranges::count_if(speeds, [](const SpeedRow& speed) {
    return has_enough_steps(steps_of(speed.a), steps_of(speed.b));
  });
  rule.alpha /= static_cast<double>(std::max<std::ptrdiff_t>(judged, 1));
  for (const SpeedRow& speed : speeds) {
    const spec::MetricSpec& metric = *speed.metric;
    const std::string name = speed.stream + "/" + metric.name;
    rows.push_back(row_of({name, metric.unit, metric.better, joined(speed.a), joined(speed.b)}));
    rows.back().kind = kind_of(name);
    judge_row(rows.back(), steps_of(speed.a), steps_of(speed.b), rule);
    const auto conflict = rules.conflicts.find(metric.name);
    if (conflict != rules.conflicts.end()) put_in_conflict(rows.back(), conflict->second);
  }
}

std::vector<std::string> disturbed_sides(const Side& a, const Side& b) {
  std::vector<std::string> sides;
  for (const auto& [name, side] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    const std::vector<std::string> reasons = disturbances(side->record);
    if (!reasons.empty()) sides.push_back(fmt::format("{}: {}", name, fmt::join(reasons, ", ")));
  }
  return sides;
}

}  // namespace

void withhold(std::vector<PerformanceRow>& rows) {
  for (PerformanceRow& row : rows) {
    if (!row.verdict || *row.verdict == spec::Verdict::inconclusive) continue;
    row.verdict = spec::Verdict::inconclusive;
    row.reason = "the machine was not quiet; " + row.reason;
  }
}

PerformanceRow performance_row(const RowValues& values, const SpeedRule& rule) {
  PerformanceRow row = row_of(values);
  row.kind = kind_of(values.name);
  judge_row(row, values.a, values.b, rule);
  return row;
}

PerformanceRow shown_row(const RowValues& values) {
  PerformanceRow row = row_of(values);
  row.kind = values.name == energy_name ? PerformanceKind::whole_run : PerformanceKind::quality;
  if (values.a.empty() || values.b.empty())
    row.reason = fmt::format("only in {}", values.a.empty() ? "B" : "A");
  return row;
}

/// Usual names: "val_loss", "validation/loss", "valid_mae_loss".
bool is_validation_loss(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  const bool is_validation = name.starts_with("val") || name.find("/val") != std::string::npos ||
                             name.find("_val") != std::string::npos;
  return is_validation && name.find("loss") != std::string::npos;
}

void sort_rows(std::vector<PerformanceRow>& rows) {
  std::ranges::stable_sort(rows, {}, order_of);
}

void put_in_conflict(PerformanceRow& row, const std::string& conflict) {
  row.better = spec::Better::none;
  row.ratio = row.ratio_low = row.ratio_high = row.margin = std::nullopt;
  if (row.verdict) row.verdict = spec::Verdict::inconclusive;
  row.reason = conflict;
}

std::vector<PerformanceRow> performance_rows(const PairToCompare& pair) {
  const auto& [a, b, rules, options] = pair;
  std::vector<PerformanceRow> rows{total_time(a, b)};
  std::vector<SpeedRow> speeds;
  for (const spec::MetricSpec& metric : rules.metrics) {
    if (!metric.performance && !is_validation_loss(metric.name)) continue;
    for (const std::string& stream : streams_of(a, b, metric.name)) {
      if (metric.performance) {
        speeds.push_back(
            {&metric, stream, values_of(a, stream, metric), values_of(b, stream, metric)});
        continue;
      }
      rows.push_back(row_of(quality_of(a, b, stream, metric)));
      rows.back().kind = PerformanceKind::quality;
    }
  }
  const SpeedRule rule{margin_between(a, b), options.reference, Draws::steps, 0.05};
  add_speeds(speeds, rule, rules, rows);
  if (!disturbed_sides(a, b).empty()) withhold(rows);
  sort_rows(rows);
  add_energy(a, b, rows);
  return rows;
}

Judgement judge_performance(const Side& a, const Side& b, const std::vector<PerformanceRow>& rows) {
  if (auto incomplete = judge_completeness(a, b)) return *std::move(incomplete);
  if (std::ranges::none_of(rows, [](const auto& row) { return row.verdict.has_value(); })) {
    return {spec::Verdict::inconclusive,
            fmt::format("no metric of performance has {} values in each run after the warm-up; "
                        "fewer do not show bursts and drift: compare several runs a side",
                        fewest_steps)};
  }
  const std::vector<std::string> disturbed = disturbed_sides(a, b);
  if (disturbed.empty()) return judge_rows(rows, margin_between(a, b));
  return {spec::Verdict::inconclusive,
          fmt::format("not judged, the machine was not quiet: {}; compare several runs a side, or "
                      "repeat this when it is quiet",
                      fmt::join(disturbed, "; "))};
}

Judgement judge_rows(const std::vector<PerformanceRow>& rows, const SpeedMargin& margin) {
  std::map<spec::Verdict, std::vector<const PerformanceRow*>> judged;
  for (const PerformanceRow& row : rows) {
    if (row.verdict) judged[*row.verdict].push_back(&row);
  }
  for (const spec::Verdict bad : {spec::Verdict::fail, spec::Verdict::inconclusive}) {
    const auto found = judged.find(bad);
    if (found == judged.end()) continue;
    const PerformanceRow& first = *found->second.front();
    std::string reason = fmt::format("{}: {} ({})", first.name, first.reason, margin.why);
    if (found->second.size() > 1) reason += fmt::format("; and {} more", found->second.size() - 1);
    return {bad, reason};
  }
  if (judged.empty()) {
    return {spec::Verdict::inconclusive,
            "no metric of performance has more than one value after its warm-up"};
  }
  const auto& good = judged.begin()->second;
  return {spec::Verdict::pass,
          fmt::format("{} within {:g} % ({})",
                      good.size() == 1 ? good.front()->name + " is"
                                       : fmt::format("all {} that are judged are", good.size()),
                      100 * margin.value,
                      margin.why)};
}

}  // namespace sabath::compare

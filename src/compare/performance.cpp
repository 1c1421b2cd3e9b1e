#include "performance.hpp"

#include <sabath/compare/rank_tests.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/derived_metric.hpp>

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

std::vector<double> after_warmup(const spec::Series& series, int warmup) {
  std::map<std::int32_t, int> seen;
  std::vector<double> values;
  values.reserve(series.size());
  auto* count = series.size() == 0 ? nullptr : &seen[series.rank.front()];
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (i > 0 && series.rank[i] != series.rank[i - 1]) count = &seen[series.rank[i]];
    if (*count < warmup) {
      ++*count;
    } else if (std::isfinite(series.value[i])) {
      values.push_back(series.value[i]);
    }
  }
  return values;
}

const spec::Series* find(const Side& side, const std::string& stream, const std::string& name) {
  for (const spec::Series& series : side.series) {
    if (series.stream == stream && series.name == name) return &series;
  }
  return nullptr;
}

std::vector<double> values_of(const Side& side,
                              const std::string& stream,
                              const spec::MetricSpec& metric) {
  const spec::Series* series = find(side, stream, metric.name);
  return series == nullptr ? std::vector<double>{} : after_warmup(*series, metric.warmup);
}

std::vector<double> last_value_of(const Side& side,
                                  const std::string& stream,
                                  const spec::MetricSpec& metric) {
  const spec::Series* series = find(side, stream, metric.name);
  if (series == nullptr || series->size() == 0) return {};
  // As in the record's summary: of the lowest rank that reports.
  const std::int32_t rank = *std::min_element(series->rank.begin(), series->rank.end());
  std::size_t last = series->size() - 1;
  while (series->rank[last] != rank)
    --last;
  return {series->value[last]};
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

SpeedMargin margin_between(const spec::RunRecord& a, const spec::RunRecord& b) {
  return speed_margin_between(places_of(a), places_of(b));
}

// ---- rows

std::optional<double> variation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  return moments(values).variation();
}

/// Nothing unless both are above zero: of others a ratio does not say which is better.
std::optional<double> turned_ratio(double a, double b, spec::Better better) {
  if (!(a > 0) || !(b > 0)) return std::nullopt;
  const double ratio = better == spec::Better::higher ? a / b : b / a;
  if (!std::isfinite(ratio)) return std::nullopt;
  return ratio;
}

PerformanceRow row_of(std::string name,
                      std::string unit,
                      spec::Better better,
                      const std::vector<double>& a,
                      const std::vector<double>& b) {
  PerformanceRow row;
  row.name = std::move(name);
  row.unit = std::move(unit);
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

Interval turned_over(const Interval& interval) {
  return {1 / interval.high, 1 / interval.low};
}

SpeedVerdict judged_speed(const std::vector<double>& a,
                          const std::vector<double>& b,
                          spec::Better better,
                          double margin,
                          std::optional<ReferenceSide> reference) {
  if (!reference) return judge_speed_of_peers(a, b, better, margin);
  if (*reference == ReferenceSide::a) return judge_speed(a, b, better, margin);
  SpeedVerdict verdict = judge_speed(b, a, better, margin);
  if (verdict.interval) verdict.interval = turned_over(*verdict.interval);
  return verdict;
}

void judge_row(PerformanceRow& row,
               const std::vector<double>& a,
               const std::vector<double>& b,
               double margin,
               std::optional<ReferenceSide> reference) {
  if (a.empty() && b.empty()) {
    row.reason = "no value after the warm-up";
    return;
  }
  if (a.size() == 1 && b.size() == 1) {
    row.reason = "one value of each shows no spread";
    return;
  }
  row.margin = margin;
  const SpeedVerdict speed = judged_speed(a, b, row.better, margin, reference);
  row.verdict = speed.verdict;
  row.reason =
      a.empty() || b.empty() ? fmt::format("only in {}", a.empty() ? "B" : "A") : speed.reason;
  if (!speed.interval) return;
  row.ratio_low = speed.interval->low;
  row.ratio_high = speed.interval->high;
}

/// Stages that were taken from the cache took no time in this run.
std::string reused_stages(const Side& a, const Side& b) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b}) {
    for (const spec::StageRecord& stage : side->record.stages) {
      if (stage.state == "reused") names.insert(stage.name);
    }
  }
  if (names.empty()) return {};
  return fmt::format("without stages that were reused: {}", fmt::join(names, ", "));
}

/// Of stages that went on from an earlier attempt only what the last one spent is known.
void leave_out_parts(const Side& a, const Side& b, PerformanceRow& row) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b}) {
    for (const spec::StageRecord& stage : side->record.stages) {
      if (stage.earlier_attempts) names.insert(stage.name);
    }
  }
  if (names.empty()) return;
  row.ratio = std::nullopt;
  row.reason += fmt::format("{}the last attempt alone of what went on from others: {}",
                            row.reason.empty() ? "" : "; ",
                            fmt::join(names, ", "));
}

PerformanceRow total_time(const Side& a, const Side& b) {
  PerformanceRow row =
      row_of(total_time_name, "s", spec::Better::lower, {a.record.wall_s}, {b.record.wall_s});
  row.kind = PerformanceKind::whole_run;
  row.reason = reused_stages(a, b);
  leave_out_parts(a, b, row);
  return row;
}

void add_energy(const Side& a, const Side& b, std::vector<PerformanceRow>& rows) {
  const std::vector<double> of_a = joules_of(a.record);
  const std::vector<double> of_b = joules_of(b.record);
  if (of_a.empty() && of_b.empty()) return;
  rows.push_back(row_of(energy_name, "J", spec::Better::lower, of_a, of_b));
  rows.back().kind = PerformanceKind::whole_run;
  if (of_a.empty() || of_b.empty())
    rows.back().reason = fmt::format("only in {}", of_a.empty() ? "B" : "A");
  leave_out_parts(a, b, rows.back());
}

/// Of "stage/metric".
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

}  // namespace

PerformanceRow performance_row(const std::string& name,
                               const std::string& unit,
                               spec::Better better,
                               const std::vector<double>& a,
                               const std::vector<double>& b,
                               const SpeedMargin& margin,
                               std::optional<ReferenceSide> reference) {
  PerformanceRow row = row_of(name, unit, better, a, b);
  row.kind = kind_of(name);
  judge_row(row, a, b, margin.value, reference);
  return row;
}

PerformanceRow told_row(const std::string& name,
                        const std::string& unit,
                        spec::Better better,
                        const std::vector<double>& a,
                        const std::vector<double>& b) {
  PerformanceRow row = row_of(name, unit, better, a, b);
  row.kind = name == energy_name ? PerformanceKind::whole_run : PerformanceKind::quality;
  if (a.empty() || b.empty()) row.reason = fmt::format("only in {}", a.empty() ? "B" : "A");
  return row;
}

/// "val_loss", "validation/loss", "valid_mae_loss": what recipes call it.
bool is_validation_loss(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  const bool is_validation = name.starts_with("val") || name.find("/val") != std::string::npos ||
                             name.find("_val") != std::string::npos;
  return is_validation && name.find("loss") != std::string::npos;
}

std::optional<double> accelerator_joules(const spec::RunRecord& record) {
  double joules = 0;
  bool found = false;
  for (const spec::EnergyReading& reading :
       record.energy_readings.value_or(std::vector<spec::EnergyReading>{})) {
    if (!reading.scope.starts_with("the whole GPU")) continue;
    joules += reading.joules;
    found = true;
  }
  return found ? std::optional(joules) : std::nullopt;
}

void sort_rows(std::vector<PerformanceRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return order_of(x) < order_of(y);
  });
}

void put_in_conflict(PerformanceRow& row, const std::string& conflict) {
  row.better = spec::Better::none;
  row.ratio = row.ratio_low = row.ratio_high = row.margin = std::nullopt;
  if (row.verdict) row.verdict = spec::Verdict::inconclusive;
  row.reason = conflict;
}

std::vector<PerformanceRow> performance_rows(const Side& a,
                                             const Side& b,
                                             const Rules& rules,
                                             const Options& options) {
  const SpeedMargin margin = margin_between(a.record, b.record);
  std::vector<PerformanceRow> rows{total_time(a, b)};
  for (const spec::MetricSpec& metric : rules.metrics) {
    if (!metric.performance && !is_validation_loss(metric.name)) continue;
    const auto conflict = rules.conflicts.find(metric.name);
    std::set<std::string> streams;
    for (const auto* side : {&a, &b}) {
      for (const spec::Series& series : side->series) {
        if (series.name == metric.name) streams.insert(series.stream);
      }
    }
    for (const std::string& stream : streams) {
      const std::string name = stream + "/" + metric.name;
      if (metric.performance) {
        rows.push_back(performance_row(name,
                                       metric.unit,
                                       metric.better,
                                       values_of(a, stream, metric),
                                       values_of(b, stream, metric),
                                       margin,
                                       options.reference));
        if (conflict != rules.conflicts.end()) put_in_conflict(rows.back(), conflict->second);
        continue;
      }
      rows.push_back(row_of(name,
                            metric.unit,
                            metric.better,
                            last_value_of(a, stream, metric),
                            last_value_of(b, stream, metric)));
      rows.back().kind = PerformanceKind::quality;
    }
  }
  sort_rows(rows);
  add_energy(a, b, rows);
  return rows;
}

Judgement judge_performance(const Side& a, const Side& b, const std::vector<PerformanceRow>& rows) {
  if (auto incomplete = judge_completeness(a, b)) return *std::move(incomplete);
  return judge_rows(rows, margin_between(a.record, b.record));
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
    if (found->second.size() > 1)
      reason += fmt::format("; {} more are so", found->second.size() - 1);
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

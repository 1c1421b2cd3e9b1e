#include "performance.hpp"

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
  return {series->value.back()};
}

/// "val_loss", "validation/loss", "valid_mae_loss": what recipes call it.
bool is_validation_loss(const spec::MetricSpec& metric) {
  std::string name = metric.name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  const bool is_validation = name.starts_with("val") || name.find("/val") != std::string::npos ||
                             name.find("_val") != std::string::npos;
  return !metric.performance && is_validation && name.find("loss") != std::string::npos;
}

/// Of readings that count a GPU as a whole; nothing where a run has none.
std::vector<double> accelerator_joules(const spec::RunRecord& record) {
  double joules = 0;
  bool found = false;
  for (const spec::EnergyReading& reading :
       record.energy_readings.value_or(std::vector<spec::EnergyReading>{})) {
    if (!reading.scope.starts_with("the whole GPU")) continue;
    joules += reading.joules;
    found = true;
  }
  return found ? std::vector<double>{joules} : std::vector<double>{};
}

// ---- where they ran

struct Margin {
  double value = 0;
  const char* why = "";
};

std::set<std::string> models_of(const spec::RunRecord& record) {
  std::set<std::string> models;
  for (const spec::HostFacts& host : record.hosts) {
    models.insert(host.cpu.model);
    for (const spec::GpuFacts& gpu : host.gpus)
      models.insert(gpu.name);
  }
  return models;
}

std::set<std::string> nodes_of(const spec::RunRecord& record) {
  std::set<std::string> nodes;
  for (const spec::HostFacts& host : record.hosts)
    nodes.insert(host.node);
  return nodes;
}

Margin margin_between(const spec::RunRecord& a, const spec::RunRecord& b) {
  const auto is_known = [](const std::set<std::string>& names) {
    return !names.empty() && !names.contains("");
  };
  const std::set<std::string> models = models_of(a);
  const bool same_models = is_known(models) && models == models_of(b);
  const std::set<std::string> nodes = nodes_of(a);
  const bool same_nodes = same_models && is_known(nodes) && nodes == nodes_of(b);
  return {speed_margin(same_nodes, same_models),
          same_nodes    ? "on the same nodes"
          : same_models ? "on devices of the same model"
                        : "on devices of different models"};
}

// ---- rows

std::optional<double> variation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  return moments(values).variation();
}

std::optional<double> turned_ratio(double a, double b, spec::Better better) {
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
  row.cv_a = variation(a);
  row.cv_b = variation(b);
  row.ratio = turned_ratio(row.median_a, row.median_b, better);
  return row;
}

/// What a run tells just once is not judged; what only one side tells is never forgotten.
void judge_row(PerformanceRow& row,
               const std::vector<double>& a,
               const std::vector<double>& b,
               double margin) {
  if (a.empty() && b.empty()) {
    row.reason = "no value after the warm-up";
    return;
  }
  if (a.size() <= 1 && b.size() <= 1 && !a.empty() && !b.empty()) {
    row.reason = "one value of each run shows no spread";
    return;
  }
  row.margin = margin;
  const SpeedVerdict speed = judge_speed_of_peers(a, b, row.better, margin);
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

PerformanceRow total_time(const Side& a, const Side& b) {
  PerformanceRow row =
      row_of("total time", "s", spec::Better::lower, {a.record.wall_s}, {b.record.wall_s});
  row.kind = PerformanceKind::whole_run;
  row.reason = reused_stages(a, b);
  return row;
}

void add_energy(const Side& a, const Side& b, std::vector<PerformanceRow>& rows) {
  const std::vector<double> of_a = accelerator_joules(a.record);
  const std::vector<double> of_b = accelerator_joules(b.record);
  if (of_a.empty() && of_b.empty()) return;
  rows.push_back(row_of("energy of the accelerators", "J", spec::Better::lower, of_a, of_b));
  rows.back().kind = PerformanceKind::whole_run;
  if (of_a.empty() || of_b.empty())
    rows.back().reason = fmt::format("only in {}", of_a.empty() ? "B" : "A");
}

PerformanceKind kind_of(const spec::MetricSpec& metric) {
  if (!metric.performance) return PerformanceKind::quality;
  return metric.name.starts_with(spec::seconds_to_target("")) ? PerformanceKind::time_to_quality
                                                              : PerformanceKind::speed;
}

/// Total time, speeds, times to targets, quality, energy; within these as declared, what is derived
/// before the rest, since every recipe has it.
int order_of(const PerformanceRow& row) {
  const bool is_usual = row.name.find("/derived/") != std::string::npos;
  return 2 * static_cast<int>(row.kind) + (is_usual ? 0 : 1);
}

}  // namespace

std::vector<PerformanceRow> performance_rows(const Side& a, const Side& b, const Rules& rules) {
  const double margin = margin_between(a.record, b.record).value;
  std::vector<PerformanceRow> rows;
  for (const spec::MetricSpec& metric : rules.metrics) {
    if (!metric.performance && !is_validation_loss(metric)) continue;
    std::set<std::string> streams;
    for (const auto* side : {&a, &b}) {
      for (const spec::Series& series : side->series) {
        if (series.name == metric.name) streams.insert(series.stream);
      }
    }
    for (const std::string& stream : streams) {
      const auto values = metric.performance ? values_of : last_value_of;
      const std::vector<double> of_a = values(a, stream, metric);
      const std::vector<double> of_b = values(b, stream, metric);
      PerformanceRow& row = rows.emplace_back(
          row_of(stream + "/" + metric.name, metric.unit, metric.better, of_a, of_b));
      row.kind = kind_of(metric);
      if (metric.performance) judge_row(row, of_a, of_b, margin);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return order_of(x) < order_of(y);
  });
  rows.insert(rows.begin(), total_time(a, b));
  add_energy(a, b, rows);
  return rows;
}

Judgement judge_performance(const Side& a, const Side& b, const std::vector<PerformanceRow>& rows) {
  if (auto incomplete = judge_completeness(a, b)) return *std::move(incomplete);
  std::map<spec::Verdict, std::vector<const PerformanceRow*>> judged;
  for (const PerformanceRow& row : rows) {
    if (row.verdict) judged[*row.verdict].push_back(&row);
  }
  const Margin margin = margin_between(a.record, b.record);
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

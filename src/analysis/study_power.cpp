#include <sabath/analysis/counted_runs.hpp>
#include <sabath/analysis/study_power.hpp>
#include <sabath/base/error.hpp>
#include <sabath/compare/statistical_power.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sabath::analysis {
namespace {

using catalog::RunRow;
using Texts = std::map<std::string, std::string>;

void count_runs(const std::vector<spec::StudyPoint>& points, StudyPower& power) {
  struct Count {
    std::size_t runs = 0;
    std::size_t drawn = 0;
    std::set<std::uint64_t> seeds{};
  };
  std::map<Texts, Count> counts;
  for (const spec::StudyPoint& point : points) {
    Count& count = counts[point.set];
    ++count.runs;
    if (point.seed) count.seeds.insert(*point.seed);
    if (!point.seed) ++count.drawn;
  }
  bool is_first = true;
  for (const auto& [set, count] : counts) {
    const std::size_t seeds = count.seeds.size() + count.drawn;
    power.runs = is_first ? count.runs : std::min(power.runs, count.runs);
    power.seeds = is_first ? seeds : std::min(power.seeds, seeds);
    is_first = false;
  }
}

/// Runs that count and have this definition, without a task.
std::vector<RunRow> runs_of(const spec::Recipe& recipe,
                            const catalog::Catalog& catalog,
                            base::WallTime now) {
  std::vector<RunRow> rows =
      counted_runs(catalog.select("recipe=" + recipe.name, now), {}, catalog);
  std::erase_if(rows, [](const RunRow& row) {
    return std::ranges::any_of(row.tags,
                               [](const std::string& tag) { return tag.starts_with("task:"); });
  });
  const auto documents = catalog.values_of(rows, "recipe_digest");
  if (!documents) return {};
  std::map<std::string, bool> is_same;
  std::vector<RunRow> same;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [known, is_new] = is_same.try_emplace((*documents)[i], false);
    if (is_new) {
      const auto record = home::RunFiles(rows[i].directory).read_record();
      known->second =
          record && record->recipe_definition == recipe.definition_digest(record->parameters);
    }
    if (known->second) same.push_back(std::move(rows[i]));
  }
  return same;
}

/// Settings of runs; runs with equal texts differ only in their seeds.
std::vector<std::string> settings_of(const std::vector<RunRow>& runs,
                                     const spec::Recipe& recipe,
                                     const catalog::Catalog& catalog) {
  std::vector<std::string> settings(runs.size());
  for (const spec::Parameter& parameter : recipe.parameters) {
    const auto values = catalog.values_of(runs, "param." + parameter.name);
    for (std::size_t i = 0; values && i < runs.size(); ++i)
      settings[i] += (*values)[i] + "\n";
  }
  return settings;
}

struct Pooled {
  double squares = 0;
  std::size_t freedom = 0;
  std::size_t runs = 0;
};

void add_group(const std::map<std::string, double>& by_seed, Pooled& pooled) {
  if (by_seed.size() < 2) return;
  double sum = 0;
  for (const auto& [seed, value] : by_seed)
    sum += value;
  const double mean = sum / static_cast<double>(by_seed.size());
  for (const auto& [seed, value] : by_seed)
    pooled.squares += (value - mean) * (value - mean);
  pooled.freedom += by_seed.size() - 1;
  pooled.runs += by_seed.size();
}

std::map<std::pair<std::string, std::string>, Pooled> spreads_of(const std::vector<RunRow>& runs,
                                                                 const spec::Recipe& recipe,
                                                                 const catalog::Catalog& catalog) {
  const std::vector<std::string> settings = settings_of(runs, recipe, catalog);
  using Groups = std::map<std::string, std::map<std::string, double>>;
  std::map<std::pair<std::string, std::string>, Groups> values;
  for (const catalog::RunMetric& metric : catalog.metrics_of(runs)) {
    // Values that were judged otherwise have another spread.
    const auto spec = std::ranges::find(recipe.metrics, metric.name, &spec::MetricSpec::name);
    if (spec != recipe.metrics.end() && spec->judge.label() != metric.judge) continue;
    const auto value = spec::shown_value(metric.performance, metric.last, metric.median);
    if (value && std::isfinite(*value)) {
      values[{metric.stream, metric.name}][settings[metric.run]].emplace(runs[metric.run].seed,
                                                                         *value);
    }
  }
  std::map<std::pair<std::string, std::string>, Pooled> spreads;
  for (const auto& [name, groups] : values) {
    for (const auto& [setting, by_seed] : groups)
      add_group(by_seed, spreads[name]);
  }
  return spreads;
}

}  // namespace

StudyPower study_power(const spec::Recipe& recipe,
                       const std::vector<spec::StudyPoint>& points,
                       const catalog::Catalog* catalog,
                       base::WallTime now) {
  StudyPower power;
  count_runs(points, power);
  const bool has_margins = std::ranges::any_of(
      recipe.metrics, [](const spec::MetricSpec& one) { return one.margin.has_value(); });
  if (!has_margins) return power;
  std::map<std::pair<std::string, std::string>, Pooled> spreads;
  if (catalog != nullptr) {
    const std::vector<RunRow> runs = runs_of(recipe, *catalog, now);
    power.counted = runs.size();
    spreads = spreads_of(runs, recipe, *catalog);
  }
  for (const spec::MetricSpec& spec : recipe.metrics) {
    if (!spec.margin) continue;
    MetricPower metric{"", spec.name, spec.unit, *spec.margin, {}, 0, {}};
    bool is_told = false;
    for (const auto& [name, pooled] : spreads) {
      if (name.second != spec.name || pooled.freedom == 0) continue;
      is_told = true;
      metric.stage = name.first;
      metric.runs = pooled.runs;
      metric.deviation = std::sqrt(pooled.squares / static_cast<double>(pooled.freedom));
      const double in_sigma = *metric.deviation > 0 ? metric.margin / *metric.deviation : INFINITY;
      if (power.seeds < 2) {
        metric.power = 0;
      } else {
        metric.power = std::isinf(in_sigma)
                           ? 1.0
                           : compare::equivalence_power(static_cast<int>(power.seeds), in_sigma);
      }
      power.metrics.push_back(metric);
    }
    if (!is_told) power.metrics.push_back(metric);
  }
  return power;
}

}  // namespace sabath::analysis

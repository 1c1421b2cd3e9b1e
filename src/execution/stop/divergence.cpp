#include "stop/divergence.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <utility>

namespace sabath::execution {
namespace {

compare::Rules rules_of(const spec::Recipe& recipe) {
  return {spec::with_derived(recipe.metrics), recipe.compare, recipe.require, {}, {}};
}

}  // namespace

FinishedRun read_finished(const std::filesystem::path& folder, const spec::Recipe& recipe) {
  const auto file = folder / "record.json";
  const spec::RunRecord record = spec::parse_run_record(base::read_file(file), file.string());
  FinishedRun finished;
  finished.run_id = record.run_id;
  finished.series = arrays::read_series(folder / "series.h5", &finished.rests);
  finished.rules = compare::merged_rules(
      rules_of(spec::parse_recipe(record.recipe_text, file.string())), rules_of(recipe));
  return finished;
}

Divergence::Divergence(std::string stage, const FinishedRun& reference)
    : stage_(std::move(stage)), reference_(reference) {
  std::ranges::copy_if(reference.series, std::back_inserter(finished_), [&](const auto& series) {
    return series.stream == stage_;
  });
}

void Divergence::forget() {
  for (spec::Series& series : series_)
    series = {series.stream, series.name, {}, {}, {}, {}, {}};
  for (std::vector<double>& rests : rests_)
    rests.clear();
}

base::SeriesId Divergence::open(std::string_view stream, std::string_view metric) {
  const auto found = std::ranges::find_if(series_, [&](const spec::Series& series) {
    return series.stream == stream && series.name == metric;
  });
  if (found != series_.end()) return static_cast<base::SeriesId>(found - series_.begin());
  series_.push_back({std::string(stream), std::string(metric), {}, {}, {}, {}, {}});
  rests_.emplace_back();
  return static_cast<base::SeriesId>(series_.size() - 1);
}

void Divergence::add(base::SeriesId series, const base::SeriesPoint& point) {
  const auto at = static_cast<std::size_t>(series);
  spec::Series& points = series_[at];
  points.rank.push_back(point.rank);
  points.step.push_back(point.step);
  points.epoch.push_back(point.epoch);
  points.value.push_back(point.value);
  points.time_s.push_back(point.time_s);
  if (point.rest != 0) {
    rests_[at].resize(points.size());
    rests_[at].back() = point.rest;
  }
  has_new_ = true;
}

std::optional<std::string> Divergence::look() {
  if (!std::exchange(has_new_, false)) return std::nullopt;
  spec::SeriesRests rests;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (rests_[i].empty()) continue;
    rests_[i].resize(series_[i].size());
    rests.emplace(series_[i].stream + "/" + series_[i].name, rests_[i]);
  }
  const spec::Rung required = compare::required_so_far(reference_.rules, {});
  for (const compare::MetricSoFar& metric : compare::compare_so_far(
           {finished_, reference_.rests, true}, {series_, rests, false}, reference_.rules, {})) {
    // Undeclared metrics are not judged, as in the comparison of finished runs.
    if (!metric.item.judged || !metric.differs()) continue;
    return base::printable("it differs from run " + reference_.run_id + ": " +
                           compare::divergence_text(metric, required));
  }
  return std::nullopt;
}

}  // namespace sabath::execution

#include "pages.hpp"
#include "view_state.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/run_facets.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/home/baseline_uses.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/baseline.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_runs = 20;

ordered_json summary_of(const spec::Asset& asset) {
  std::uint64_t bytes = 0;
  bool has_sizes = !asset.files.empty();
  bool has_digests = !asset.files.empty();
  for (const spec::AssetFile& file : asset.files) {
    has_sizes = has_sizes && file.size_bytes.has_value();
    has_digests = has_digests && !file.digests.empty();
    bytes += file.size_bytes.value_or(0);
  }
  ordered_json json{{"name", asset.name},
                    {"kind", spec::to_string(asset.kind)},
                    {"version", asset.version},
                    {"title", asset.title},
                    {"description", asset.description},
                    {"license", asset.license},
                    {"keywords", asset.keywords},
                    {"files", asset.files.size()},
                    {"has_digests", has_digests},
                    {"withdrawn", asset.withdrawn}};
  if (has_sizes) json["size_bytes"] = bytes;
  return json;
}

ordered_json metric_json(const spec::BaselineMetric& metric) {
  ordered_json json{{"name", metric.name},
                    {"unit", metric.unit},
                    {"better", spec::to_string(metric.better)},
                    {"performance", metric.performance},
                    {"n", metric.n},
                    {"mean", base::json_number(metric.mean)},
                    {"sd", base::json_number(metric.sd)},
                    {"median", base::json_number(metric.median)},
                    {"min", base::json_number(metric.min)},
                    {"max", base::json_number(metric.max)}};
  if (metric.bounds) {
    json["bounds"] = {base::json_number(metric.bounds->low),
                      base::json_number(metric.bounds->high)};
    json["rule"] = metric.bounds->rule;
  }
  return json;
}

ordered_json entry_json(const spec::BaselineEntry& entry) {
  ordered_json metrics = ordered_json::array();
  for (const spec::BaselineMetric& metric : entry.metrics)
    metrics.push_back(metric_json(metric));
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : entry.holds_for.parameters)
    parameters[name] = spec::to_json(value);
  ordered_json runs = ordered_json::array();
  for (const spec::BaselineRun& run : entry.runs)
    runs.push_back(run.run_id);
  ordered_json json{{"definition", entry.holds_for.recipe_definition.text()},
                    {"task", entry.holds_for.task},
                    {"site", entry.holds_for.site},
                    {"device", entry.holds_for.device},
                    {"parameters", std::move(parameters)},
                    {"selection", entry.selection},
                    {"runs", std::move(runs)},
                    {"metrics", std::move(metrics)}};
  if (entry.accepted) {
    json["accepted"] = {
        {"by", entry.accepted->by}, {"at", entry.accepted->at}, {"note", entry.accepted->note}};
  }
  return json;
}

}  // namespace

std::string assets_json(ViewState& state, const serve::Query& query) {
  const std::lock_guard lock(state.mutex());
  const std::string words = query.parameter("words");
  std::set<std::string> names;
  if (!words.empty()) {
    for (const catalog::DocumentRow& row : state.catalog().search(words))
      names.insert(row.name);
  }
  state.budget().charge(4);
  std::vector<home::BadDocument> bad;
  ordered_json assets = ordered_json::array();
  for (const home::AssetDocument& document : state.parts().documents().assets(bad)) {
    if (words.empty() || names.contains(document.asset.name))
      assets.push_back(summary_of(document.asset));
  }
  ordered_json problems = ordered_json::array();
  for (const home::BadDocument& one : bad)
    problems.push_back({{"path", one.path.string()}, {"problem", one.problem}});
  return base::compact_json({{"schema", 1},
                             {"words", words},
                             {"assets", std::move(assets)},
                             {"problems", std::move(problems)}});
}

std::string asset_json(ViewState& state, const std::string& name) {
  const std::lock_guard lock(state.mutex());
  const spec::Asset asset = state.parts().documents().asset(name);
  ordered_json runs = ordered_json::array();
  state.catalog();  // brought up to date
  const catalog::RunFacets facets(state.parts().folders.catalog());
  for (const catalog::RunRow& row : facets.runs_with_input(asset.name, most_runs)) {
    runs.push_back({{"id", row.id},
                    {"recipe", row.recipe},
                    {"state", spec::to_string(row.state)},
                    {"created", row.created}});
  }
  state.budget().charge(3);
  ordered_json json{{"schema", 1},
                    {"summary", summary_of(asset)},
                    {"document", spec::to_json(asset)},
                    {"runs", std::move(runs)},
                    {"command", "sabath fetch " + asset.name}};
  try {
    ordered_json digests = ordered_json::array();
    if (const auto cached = state.parts().cache().asset(asset.name)) {
      for (const base::Digest& digest : cached->digests)
        digests.push_back(digest.text());
    }
    json["cached"] = std::move(digests);
  } catch (const base::Error& error) {
    json["cache_problem"] = error.what();
  }
  return base::compact_json(json);
}

std::string baselines_json(ViewState& state) {
  std::set<std::string> files;
  for (const auto& [run, its] : home::runs_of_baselines(state.parts().folders.home))
    files.insert(its.begin(), its.end());
  {
    const std::lock_guard lock(state.mutex());
    state.budget().charge(1.0 + static_cast<double>(files.size()));
  }
  ordered_json baselines = ordered_json::array();
  for (const std::string& file : files) {
    ordered_json one{{"file", file}};
    try {
      const spec::Baseline baseline = home::read_baseline(file);
      one["recipe"] = baseline.recipe;
      one["entries"] = ordered_json::array();
      for (const spec::BaselineEntry& entry : baseline.entries)
        one["entries"].push_back(entry_json(entry));
    } catch (const base::Error& error) {
      one["problem"] = error.what();
    }
    baselines.push_back(std::move(one));
  }
  return base::compact_json({{"schema", 1}, {"baselines", std::move(baselines)}});
}

}  // namespace sabath::live

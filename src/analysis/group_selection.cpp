#include "group_values.hpp"
#include "session_levels.hpp"

#include <sabath/analysis/group_selection.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/compare/compare_groups.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/shown_value.hpp>

#include <algorithm>
#include <map>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using catalog::RunRow;
using Values = std::vector<std::string>;

/// Items of facets, which only the records have: "host.cpu.model" is the item "cpu.model" of the
/// facet "host", a word alone one of "launch". Nothing where no run has it.
std::optional<Values> values_in_records(const std::vector<RunRow>& runs, const std::string& key) {
  const auto dot = key.find('.');
  const std::string facet = dot == std::string::npos ? "launch" : key.substr(0, dot);
  const std::string item = dot == std::string::npos ? key : key.substr(dot + 1);
  Values values(runs.size());
  std::vector<char> has(runs.size(), 0);
  base::for_each_in_parallel(runs.size(), [&](std::size_t i) {
    const auto facets = execution::read_facets(home::RunFiles(runs[i].directory));
    const auto found = std::ranges::find(facets, facet, &spec::Facet::name);
    if (found == facets.end()) return;
    const auto value = found->items.find(item);
    if (value == found->items.end()) return;
    values[i] = spec::shown_text(value->second);
    has[i] = 1;
  });
  if (std::ranges::find(has, 1) == has.end()) return std::nullopt;
  return values;
}

compare::NamedFactor factor_of(const std::string& name, const Values& values) {
  compare::NamedFactor factor;
  factor.names = values;
  std::ranges::sort(factor.names, base::value_before);
  factor.names.erase(std::unique(factor.names.begin(), factor.names.end()), factor.names.end());
  std::map<std::string_view, std::uint32_t> codes;
  for (std::uint32_t i = 0; i < factor.names.size(); ++i)
    codes[factor.names[i]] = i;
  factor.factor = {name, static_cast<std::uint32_t>(factor.names.size()), {}};
  factor.factor.levels.reserve(values.size());
  for (const std::string& value : values)
    factor.factor.levels.push_back(codes[value]);
  return factor;
}

/// Keys of these runs that `key` may mean, including items of the last record.
std::vector<std::string> near_keys(const std::string& key,
                                   const std::vector<RunRow>& runs,
                                   const catalog::Catalog& catalog) {
  constexpr std::string_view of_parameter = "param.";
  std::vector<std::string> known = catalog.keys_of(runs);
  if (key.starts_with(of_parameter)) {
    for (std::string& name : known)
      name.insert(0, of_parameter);
  }
  if (runs.empty()) return known;
  for (const spec::Facet& facet : execution::read_facets(home::RunFiles(runs.back().directory))) {
    for (const auto& [item, value] : facet.items)
      known.push_back(facet.name == "launch" ? item : facet.name + "." + item);
  }
  return known;
}

bool has_tasks(const std::vector<RunRow>& runs) {
  const Values tasks = tasks_of(runs);
  return std::ranges::any_of(tasks, [](const auto& task) { return !task.empty(); });
}

}  // namespace

std::vector<RunRow> runs_to_judge(const std::vector<RunRow>& runs,
                                  const GroupsRequest& request,
                                  const catalog::Catalog& catalog) {
  spec::GroupComparison partial;
  return complete_runs(runs, request, catalog, partial);
}

std::vector<std::string> shown_levels(std::vector<std::string> levels) {
  constexpr std::string_view prefix = "sha256:";
  constexpr std::size_t shown = 12;
  for (std::string& level : levels) {
    if (level.starts_with(prefix)) level = level.substr(prefix.size(), shown);
  }
  return levels;
}

std::vector<std::string> levels_of(const std::vector<RunRow>& runs,
                                   const std::string& key,
                                   const catalog::Catalog& catalog,
                                   const std::string& option) {
  if (key == "task" && has_tasks(runs)) return tasks_of(runs);
  if (auto values = catalog.values_of(runs, key)) return *std::move(values);
  if (const auto variable = session_variable_of(key)) {
    if (auto levels = session_levels(runs, *variable)) return std::move(levels->of_run);
  } else if (auto values = values_in_records(runs, key)) {
    return *std::move(values);
  }
  throw Error(ErrorKind::usage,
              option + " " + base::printable(key) + ": none of the runs has that",
              base::did_you_mean(key,
                                 near_keys(key, runs, catalog),
                                 "'sabath help compare' lists what runs can be grouped by"));
}

namespace {

/// Whether a session variable is known depends on all runs, counted or not.
Values levels_of_counted(const std::vector<RunRow>& all,
                         const std::vector<RunRow>& counted,
                         const std::string& key,
                         const catalog::Catalog& catalog) {
  if (counted.empty() || !session_variable_of(key))
    return levels_of(counted.empty() ? all : counted, key, catalog);
  const Values levels = levels_of(all, key, catalog);
  std::map<std::string, std::string> level_of_run;
  for (std::size_t i = 0; i < all.size(); ++i)
    level_of_run[all[i].id] = levels[i];
  Values result;
  for (const RunRow& run : counted)
    result.push_back(level_of_run.at(run.id));
  return result;
}

}  // namespace

spec::GroupComparison compare_groups(const std::vector<RunRow>& all,
                                     const GroupsRequest& request,
                                     const catalog::Catalog& catalog) {
  spec::GroupComparison partial;
  partial.by = request.by;
  const std::vector<RunRow> runs = complete_runs(all, request, catalog, partial);
  // A key that no run has is an error before anything else is said.
  std::vector<compare::NamedFactor> factors;
  for (const std::string& key : request.by) {
    factors.push_back(factor_of(key, levels_of_counted(all, runs, key, catalog)));
    factors.back().names = shown_levels(std::move(factors.back().names));
  }
  if (runs.empty()) {
    partial.reason = "no run is complete and to be judged; \"left out\" says why";
    return partial;
  }
  std::set<std::string> allowed = request.across;
  allowed.insert(request.by.begin(), request.by.end());
  partial.groups = groups_by(factors, runs.size());  // shown also where they may not be compared
  const auto terms = comparable(runs, allowed, catalog, partial);
  if (!terms) return partial;
  compare::GroupsToCompare groups = groups_of(runs, *terms, request, catalog, partial);
  groups.factors = std::move(factors);
  spec::GroupComparison comparison = compare::compare_groups(groups);
  complete(comparison, partial, *terms);
  if (groups.require) compare_in_full(runs, request, *groups.require, comparison);
  note_what_varies(runs, *terms, {request.by.begin(), request.by.end()}, catalog, comparison);
  return comparison;
}

}  // namespace sabath::analysis

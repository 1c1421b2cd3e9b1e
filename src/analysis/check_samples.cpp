#include <sabath/analysis/check_samples.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/compare/performance_facts.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " + ") + word;
  return text;
}

std::string device_of(const std::vector<spec::HostFacts>& hosts) {
  std::set<std::string> models;
  for (const auto& [model, count] : devices_of(hosts))
    models.insert(model);
  return models.empty() ? "unknown" : joined(models);
}

std::string nodes_of(const std::vector<spec::HostFacts>& hosts) {
  std::set<std::string> nodes;
  for (const spec::HostFacts& host : hosts)
    nodes.insert(host.node);
  return joined(nodes);
}

std::string site_of(const spec::RunRecord& record) {
  const spec::Facet* launch = record.facet("launch");
  if (launch == nullptr) return "local";
  const auto site = launch->items.find("site");
  return site == launch->items.end() ? "local" : site->second;
}

std::string digest_of(const spec::RunRecord& record, std::string_view facet) {
  const spec::Facet* found = record.facet(facet);
  return found == nullptr ? std::string() : found->digest().text();
}

spec::BaselineKey baseline_key_of(const spec::RunRecord& record) {
  spec::BaselineKey key;
  key.recipe_definition = record.recipe_definition;
  key.task = record.task.value_or("");
  for (const auto& [name, value] : record.parameters) {
    const auto& execution = record.execution_parameters;
    if (std::find(execution.begin(), execution.end(), name) == execution.end())
      key.parameters[name] = value;
  }
  if (const spec::Facet* data = record.facet("data")) key.data = data->digest();
  key.site = site_of(record);
  key.device = device_of(record.hosts);
  return key;
}

std::set<std::string> declared_outputs(const spec::RunRecord& record) {
  std::set<std::string> names;
  for (const spec::OutputRecord& output : record.outputs)
    names.insert(output.stage + "/" + output.part_of.value_or(output.path));
  return names;
}

CheckSample judged(const execution::CurrentRecord& current, const catalog::RunRow& row) {
  const spec::RunRecord& record = current.record;
  return {{record.run_id, nodes_of(record.hosts), record.created, record.seed.value},
          row.placed,
          row.directory,
          record.wall_s,
          record.recipe_digest,
          digest_of(record, "code"),
          digest_of(record, "environment"),
          record.metrics,
          whole_values_of(current.record.metrics, current.series),
          !compare::disturbances(record).empty(),
          spec::executed_by(record),
          declared_outputs(record)};
}

struct KeyOrder {
  bool operator()(const spec::BaselineKey& a, const spec::BaselineKey& b) const {
    const auto all = [](const spec::BaselineKey& key) {
      return std::tie(
          key.recipe_definition, key.task, key.parameters, key.data, key.site, key.device);
    };
    return all(a) < all(b);
  }
};
using Places = std::map<spec::BaselineKey, std::size_t, KeyOrder>;  ///< of the groups

SampleGroup& group_of(std::vector<SampleGroup>& groups,
                      Places& places,
                      const spec::RunRecord& record) {
  const auto [place, is_new] = places.try_emplace(baseline_key_of(record), groups.size());
  if (!is_new) return groups[place->second];
  SampleGroup& group = groups.emplace_back();
  group.recipe = record.recipe_name;
  group.key = place->first;
  return group;
}

/// Null where the run has no point of it.
const spec::MetricSummary* summary_of(const CheckSample& run, const std::string& name) {
  const auto found = std::ranges::find_if(run.metrics, [&](const spec::MetricSummary& metric) {
    return metric.points > 0 && metric.stream + "/" + metric.name == name;
  });
  return found == run.metrics.end() ? nullptr : &*found;
}

/// Adds the value of a run.
void add_value(const CheckSample& run, std::size_t i, std::size_t runs, GroupMetric& metric) {
  metric.values.emplace_back();
  metric.judges.emplace_back();
  const spec::MetricSummary* const summary = summary_of(run, metric.name);
  if (summary == nullptr) return;
  const bool is_median = metric.spec.performance;
  metric.values.back() =
      spec::shown_value(is_median, spec::judged_value(*summary), summary->median);
  if (is_median) return;
  metric.judges.back() = summary->judge;
  set_whole(metric.whole, runs, i, spec::whole_judged(run.whole, *summary));
}

/// Runs that count and were executed here; adds the others, or notes, to `result`.
std::vector<const catalog::RunRow*> complete_runs(const std::vector<catalog::RunRow>& rows,
                                                  const std::vector<std::string>& reasons,
                                                  CheckSamples& result) {
  std::vector<const catalog::RunRow*> complete;
  std::map<std::string, std::size_t> left_out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const catalog::RunRow& row = rows[i];
    if (reasons[i].empty() && row.state == spec::RunState::ok) {
      complete.push_back(&row);
    } else if (reasons[i].empty() || reasons[i] == spec::to_string(row.state)) {
      result.others.push_back(row);
    } else {
      ++left_out[reasons[i]];
    }
  }
  for (const auto& [reason, runs] : left_out)
    result.notes.push_back(fmt::format("left out: {} run(s) {}", runs, reason));
  return complete;
}

}  // namespace

CheckSamples check_samples(const std::vector<catalog::RunRow>& rows,
                           const NamedRuns& named,
                           const catalog::Catalog& catalog) {
  const std::vector<std::string> reasons = why_not_counted(rows, named, catalog);
  CheckSamples result;
  result.count = spec::count_runs(reasons);
  const std::vector<const catalog::RunRow*> complete = complete_runs(rows, reasons, result);
  std::vector<std::optional<execution::CurrentRecord>> records(complete.size());
  base::for_each_in_parallel(complete.size(), [&](std::size_t i) {
    records[i] = execution::read_current(home::RunFiles(complete[i]->directory));
  });
  Places places;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i]) {
      throw Error(ErrorKind::not_found,
                  complete[i]->id + ": the run's record is gone",
                  "'sabath catalog reindex' removes such runs from the catalog");
    }
    const execution::CurrentRecord& current = *records[i];
    SampleGroup& group = group_of(result.groups, places, current.record);
    require_same_sources(
        group.declared, current.declared, current.record.run_id, "that of other runs");
    group.runs.push_back(judged(current, *complete[i]));
    group.declared = current.declared;
    group.require = current.record.require;
    group.deterministic = current.record.deterministic;
  }
  return result;
}

void require_same_sources(const std::vector<spec::MetricSpec>& declared,
                          const std::vector<spec::MetricSpec>& of_run,
                          const std::string& run_id,
                          const std::string& than) {
  for (const spec::MetricSpec& metric : of_run) {
    const auto same = std::find_if(declared.begin(), declared.end(), [&](const auto& other) {
      return other.name == metric.name;
    });
    if (same == declared.end() || same->from == metric.from) continue;
    throw Error(
        ErrorKind::usage,
        "metric '" + metric.name + "' of " + run_id + " was found in another way than " + than,
        "'sabath collect RUN --with FILE' reads all with the same patterns");
  }
}

std::vector<GroupMetric> metrics_of(const SampleGroup& group) {
  std::map<std::string, GroupMetric> metrics;
  for (const spec::MetricSpec& spec : spec::with_derived(group.declared)) {
    for (const CheckSample& run : group.runs) {
      for (const spec::MetricSummary& metric : run.metrics) {
        if (metric.name != spec.name) continue;
        const std::string name = metric.stream + "/" + metric.name;
        metrics.try_emplace(name, GroupMetric{name, spec});
      }
    }
  }
  std::vector<GroupMetric> result;
  for (auto& [name, metric] : metrics) {
    for (std::size_t i = 0; i < group.runs.size(); ++i)
      add_value(group.runs[i], i, group.runs.size(), metric);
    result.push_back(std::move(metric));
  }
  return result;
}

std::map<std::string, std::size_t> devices_of(const std::vector<spec::HostFacts>& hosts) {
  std::map<std::string, std::size_t> gpus;
  std::map<std::string, std::size_t> cpus;
  for (const spec::HostFacts& host : hosts) {
    for (const spec::GpuFacts& gpu : host.gpus)
      ++gpus[gpu.name];
    if (!host.cpu.model.empty()) cpus[host.cpu.model] = 1;
  }
  return gpus.empty() ? cpus : gpus;
}

std::string bare_name(const std::string& name) {
  const auto slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

}  // namespace sabath::analysis

#include <sabath/app/collect_run.hpp>
#include <sabath/app/compare_groups.hpp>
#include <sabath/app/perturbation.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/parallel.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/collect/number_text.hpp>
#include <sabath/compare/compare_groups.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using catalog::RunRow;
using Values = std::vector<std::string>;

bool has_tag(const RunRow& run, std::string_view beginning) {
  return std::any_of(run.tags.begin(), run.tags.end(), [&](const auto& tag) {
    return tag.starts_with(beginning);
  });
}

/// What each run has for the number of its perturbation; empty where it is asked for.
Values perturbations_of(const std::vector<RunRow>& runs,
                        const GroupsRequest& request,
                        const catalog::Catalog& catalog) {
  const std::string name = perturbation_parameter("1ulp");
  for (const std::string& key : {name, "param." + name}) {
    const bool is_by = std::find(request.by.begin(), request.by.end(), key) != request.by.end();
    if (is_by || request.across.contains(key)) return Values(runs.size());
  }
  return catalog.values_of(runs, "param." + name).value_or(Values(runs.size()));
}

/// Why a run is not judged; empty: it is.
std::string why_left_out(const RunRow& run, const std::string& perturbation, bool hybrids) {
  if (has_tag(run, "asset:")) return "only made an asset";
  if (run.state != spec::RunState::ok && run.state != spec::RunState::imported)
    return std::string(spec::to_string(run.state));
  if (!hybrids && has_tag(run, "hybrid-")) return "made by explain";
  if (!perturbation.empty() && perturbation != "0") return "perturbed";
  return {};
}

/// The runs that can be judged; the others are told.
std::vector<RunRow> complete_runs(const std::vector<RunRow>& runs,
                                  const GroupsRequest& request,
                                  const catalog::Catalog& catalog,
                                  spec::GroupComparison& comparison) {
  const Values perturbations = perturbations_of(runs, request, catalog);
  std::map<std::string, std::uint64_t> left_out;
  std::vector<RunRow> complete;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRow& run = runs[i];
    const std::string reason = why_left_out(run, perturbations[i], request.hybrids);
    if (!reason.empty()) {
      ++left_out[reason];
    } else {
      complete.push_back(run);
      comparison.imported += run.state == spec::RunState::imported ? 1 : 0;
    }
  }
  for (const auto& [reason, count] : left_out)
    comparison.left_out.push_back({reason, count});
  comparison.runs = complete.size();
  return complete;
}

/// A recipe as some of the runs had it.
struct Definition {
  spec::RunRecord record{};  ///< of the first of them
  std::uint64_t runs = 0;
};

/// By digest of the definition. One record is read for each recipe document.
std::map<std::string, Definition> definitions_of(const std::vector<RunRow>& runs,
                                                 const catalog::Catalog& catalog) {
  const auto documents = catalog.values_of(runs, "recipe_digest");
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> by_document;
  for (std::size_t i = 0; i < runs.size(); ++i)
    ++by_document.try_emplace((*documents)[i], i, 0).first->second.second;
  std::map<std::string, Definition> definitions;
  for (const auto& [digest, first] : by_document) {
    const RunFiles files(runs[first.first].directory);
    auto record = files.read_record();
    if (!record) {
      throw Error(ErrorKind::not_found,
                  files.record().string() + ": the run's record is gone",
                  "'sabath catalog reindex' forgets runs that are no longer there");
    }
    Definition& definition = definitions[record->recipe_definition.text()];
    if (definition.runs == 0) definition.record = std::move(*record);
    definition.runs += first.second;
  }
  return definitions;
}

bool varies(const Values& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
}

/// Items of facets, which only the records have: "host.cpu.model" is the item "cpu.model" of the
/// facet "host", a word alone one of "launch". Nothing where no run has it.
std::optional<Values> values_in_records(const std::vector<RunRow>& runs, const std::string& key) {
  const auto dot = key.find('.');
  const std::string facet = dot == std::string::npos ? "launch" : key.substr(0, dot);
  const std::string item = dot == std::string::npos ? key : key.substr(dot + 1);
  Values values(runs.size());
  std::vector<char> has(runs.size(), 0);
  base::for_each_in_parallel(runs.size(), [&](std::size_t i) {
    const auto record = read_current_summary(RunFiles(runs[i].directory));
    const spec::Facet* found = record ? record->facet(facet) : nullptr;
    if (found == nullptr) return;
    const auto value = found->items.find(item);
    if (value == found->items.end()) return;
    values[i] = value->second;
    has[i] = 1;
  });
  if (std::find(has.begin(), has.end(), 1) == has.end()) return std::nullopt;
  return values;
}

/// Levels in the order of numbers, where all are, else of text.
compare::NamedFactor factor_of(const std::string& name, const Values& values) {
  compare::NamedFactor factor;
  factor.names = values;
  std::sort(factor.names.begin(), factor.names.end());
  factor.names.erase(std::unique(factor.names.begin(), factor.names.end()), factor.names.end());
  std::map<std::string, double> numbers;
  for (const std::string& level : factor.names) {
    if (const auto number = collect::number_of(level)) numbers[level] = *number;
  }
  if (numbers.size() == factor.names.size()) {
    std::stable_sort(factor.names.begin(), factor.names.end(), [&](const auto& a, const auto& b) {
      return numbers[a] < numbers[b];
    });
  }
  std::map<std::string_view, std::uint32_t> codes;
  for (std::uint32_t i = 0; i < factor.names.size(); ++i)
    codes[factor.names[i]] = i;
  factor.factor = {name, static_cast<std::uint32_t>(factor.names.size()), {}};
  factor.factor.levels.reserve(values.size());
  for (const std::string& value : values)
    factor.factor.levels.push_back(codes[value]);
  return factor;
}

/// Digests are shown by their beginning.
void shorten_digests(compare::NamedFactor& factor) {
  constexpr std::string_view prefix = "sha256:";
  for (std::string& name : factor.names) {
    if (name.starts_with(prefix)) name = name.substr(prefix.size(), 12);
  }
}

/// What must not differ between the runs, and does: "parameter rate (0.1, 0.2)".
std::vector<std::string> forbidden(const std::vector<RunRow>& runs,
                                   const spec::RunRecord& record,
                                   const std::set<std::string>& allowed,
                                   const catalog::Catalog& catalog) {
  std::vector<std::string> keys{"data"};
  for (const auto& [name, value] : record.parameters) {
    const auto& execution = record.execution_parameters;
    if (std::find(execution.begin(), execution.end(), name) == execution.end())
      keys.push_back(name);
  }
  std::vector<std::string> found;
  for (const std::string& key : keys) {
    const bool is_parameter = key != "data";
    if (allowed.contains(key) || allowed.contains("param." + key) ||
        (is_parameter && allowed.contains("parameters")))
      continue;
    // A parameter may be called like something else.
    const auto values = catalog.values_of(runs, is_parameter ? "param." + key : key);
    if (!values || !varies(*values)) continue;
    found.push_back(is_parameter ? "parameter " + key : key);
  }
  return found;
}

/// What else may explain a difference: it is not the same in all runs.
void tell_what_varies(const std::vector<RunRow>& runs,
                      const spec::RunRecord& record,
                      const std::set<std::string>& by,
                      const catalog::Catalog& catalog,
                      spec::GroupComparison& comparison) {
  std::vector<std::string> keys{"host", "seed", "code", "environment"};
  keys.insert(keys.end(), record.execution_parameters.begin(), record.execution_parameters.end());
  std::string text;
  for (const std::string& key : keys) {
    if (by.contains(key) || (key == "host" && by.contains("node"))) continue;
    const auto values = catalog.values_of(runs, key);
    if (!values || !varies(*values)) continue;
    const std::set<std::string> distinct(values->begin(), values->end());
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key, distinct.size());
  }
  if (!text.empty()) comparison.notes.push_back("varies besides: " + text);
}

/// Numbers that were found in different ways are no two values of one thing.
void check_sources(const std::vector<RunRow>& runs, const std::vector<spec::MetricSpec>& declared) {
  for (const RunRow& run : runs) {
    const RunFiles files(run.directory);
    std::error_code code;
    if (!fs::exists(files.collections(), code)) continue;
    const auto current = read_current(files);
    if (!current) continue;
    for (const spec::MetricSpec& metric : current->declared) {
      const auto same = std::find_if(declared.begin(), declared.end(), [&](const auto& other) {
        return other.name == metric.name;
      });
      if (same == declared.end() || same->from == metric.from) continue;
      throw Error(ErrorKind::usage,
                  "metric '" + metric.name + "' of " + run.id +
                      " was found in another way than the recipe says",
                  "'sabath collect RUN --with FILE' reads all with the same patterns");
    }
  }
}

/// The metrics that runs have, and those that are declared and none has.
std::vector<compare::RunValues> metrics_of(const std::vector<RunRow>& runs,
                                           const std::vector<spec::MetricSpec>& declared,
                                           const catalog::Catalog& catalog) {
  const auto find = [&](const std::string& name) {
    return std::find_if(
        declared.begin(), declared.end(), [&](const auto& spec) { return spec.name == name; });
  };
  std::map<std::string, compare::RunValues> metrics;
  std::set<std::string> seen;
  for (const catalog::RunMetric& found : catalog.metrics_of(runs)) {
    compare::RunValues& metric = metrics[found.stream + "/" + found.name];
    if (metric.name.empty()) {
      const auto spec = find(found.name);
      seen.insert(found.name);
      metric.name = found.stream + "/" + found.name;
      metric.unit = found.unit;
      metric.better = found.better;
      metric.performance = found.performance;
      const bool is_imported = runs[found.run].state == spec::RunState::imported;
      metric.judged = !found.performance && (is_imported || spec != declared.end());
      if (spec != declared.end()) {
        metric.tolerance = spec->tolerance;
        metric.margin = spec->margin;
      }
      metric.values.resize(runs.size());
    }
    metric.values[found.run] = found.performance ? found.median : found.last;
  }
  std::vector<compare::RunValues> result;
  for (auto& [name, metric] : metrics)
    result.push_back(std::move(metric));
  for (const spec::MetricSpec& spec : declared) {
    if (spec.performance || seen.contains(spec.name)) continue;
    compare::RunValues& metric = result.emplace_back();
    metric.name = spec.name;
    metric.unit = spec.unit;
    metric.values.resize(runs.size());
  }
  std::stable_partition(
      result.begin(), result.end(), [](const auto& metric) { return metric.judged; });
  return result;
}

/// The rung that all runs must hold, with who says so. Nothing: groups of seeds.
std::optional<spec::Rung> required_rung(const std::vector<RunRow>& runs,
                                        const GroupsRequest& request,
                                        const spec::RunRecord& record,
                                        std::string& said) {
  if (request.require) {
    said = std::string(spec::to_string(*request.require)) + ", by --require";
    return request.require;
  }
  const bool one_seed = std::all_of(runs.begin(), runs.end(), [&](const RunRow& run) {
    return run.state == spec::RunState::ok && run.seed == runs.front().seed;
  });
  if (!one_seed) {
    said = "equivalence of groups";
    return std::nullopt;
  }
  const spec::Rung rung = record.require.value_or(spec::Rung::tolerance);
  said = std::string(spec::to_string(rung)) +
         (record.require ? ", by the recipe" : ", for runs of one seed");
  return rung;
}

spec::GroupComparison not_comparable(spec::GroupComparison comparison, std::string reason) {
  comparison.result = spec::Verdict::not_comparable;
  comparison.reason = std::move(reason);
  return comparison;
}

std::string definitions_text(const std::map<std::string, Definition>& definitions) {
  std::string text;
  for (const auto& [digest, definition] : definitions) {
    text += fmt::format("{}{} ({} runs, such as {})",
                        text.empty() ? "" : ", ",
                        definition.record.recipe_name,
                        definition.runs,
                        definition.record.run_id);
  }
  return text;
}

/// The values of metrics, once it is known that the runs may be compared.
compare::GroupsToCompare groups_of(const std::vector<RunRow>& runs,
                                   const spec::RunRecord& record,
                                   const GroupsRequest& request,
                                   const catalog::Catalog& catalog,
                                   spec::GroupComparison& told) {
  std::vector<spec::MetricSpec> declared;
  if (!record.recipe_text.empty()) {
    declared = spec::parse_recipe(record.recipe_text, record.run_id + ":/recipe").metrics;
  }
  check_sources(runs, declared);
  compare::GroupsToCompare groups;
  groups.runs = runs.size();
  groups.metrics = metrics_of(runs, spec::with_derived(declared), catalog);
  groups.require = required_rung(runs, request, record, told.required);
  groups.tolerance = request.tolerance;
  groups.reference = request.reference;
  return groups;
}

/// What is known of the runs before their values, in what was found of these.
void complete(spec::GroupComparison& comparison, const spec::GroupComparison& told) {
  comparison.recipe = told.recipe;
  comparison.imported = told.imported;
  comparison.left_out = told.left_out;
  comparison.required = told.required;
}

/// The record of a run, if all may be compared; else `told` says why not.
std::optional<spec::RunRecord> comparable(const std::vector<RunRow>& runs,
                                          const std::set<std::string>& allowed,
                                          const catalog::Catalog& catalog,
                                          spec::GroupComparison& told) {
  auto definitions = definitions_of(runs, catalog);
  spec::RunRecord record = std::move(definitions.begin()->second.record);
  told.recipe = record.recipe_name;
  if (definitions.size() > 1 && !allowed.contains("recipe")) {
    definitions.begin()->second.record = record;
    told = not_comparable(std::move(told),
                          fmt::format("the runs are of {} definitions: {}; --across recipe "
                                      "compares them nevertheless",
                                      definitions.size(),
                                      definitions_text(definitions)));
    return std::nullopt;
  }
  const std::vector<std::string> differing = forbidden(runs, record, allowed, catalog);
  if (differing.empty()) return record;
  told = not_comparable(std::move(told),
                        fmt::format("{} differs, which affects the result; group by it, or "
                                    "compare --across it",
                                    fmt::join(differing, ", ")));
  return std::nullopt;
}

// ---- two sides

/// Which of the complete runs are on side B.
std::vector<std::uint32_t> sides_of(const std::vector<RunRow>& runs, const std::vector<RunRow>& b) {
  std::set<std::string> of_b;
  for (const RunRow& run : b)
    of_b.insert(run.id);
  std::vector<std::uint32_t> sides;
  for (const RunRow& run : runs)
    sides.push_back(of_b.contains(run.id) ? 1 : 0);
  return sides;
}

void refuse_on_both(const std::vector<RunRow>& a, const std::vector<RunRow>& b) {
  std::set<std::string> of_a;
  for (const RunRow& run : a)
    of_a.insert(run.id);
  for (const RunRow& run : b) {
    if (!of_a.contains(run.id)) continue;
    throw Error(ErrorKind::usage,
                run.id + ": is on both sides",
                "two groups that share a run say nothing of one another");
  }
}

/// The runs of one side.
std::vector<RunRow> side(const std::vector<RunRow>& runs,
                         const std::vector<std::uint32_t>& sides,
                         std::uint32_t wanted) {
  std::vector<RunRow> own;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (sides[i] == wanted) own.push_back(runs[i]);
  }
  return own;
}

std::set<std::string> distinct_values(const std::vector<RunRow>& runs,
                                      const std::string& key,
                                      const catalog::Catalog& catalog) {
  const auto values = catalog.values_of(runs, key);
  return values ? std::set<std::string>(values->begin(), values->end()) : std::set<std::string>{};
}

compare::SpeedPlaces places_of(const std::vector<RunRow>& runs, const catalog::Catalog& catalog) {
  compare::SpeedPlaces places;
  places.nodes = distinct_values(runs, "host", catalog);
  places.models = distinct_values(runs, "cpu", catalog);
  for (const std::string& gpu : distinct_values(runs, "gpu", catalog)) {
    if (!gpu.empty()) places.models.insert(gpu);
  }
  return places;
}

/// Whether a run took what an earlier one had made: then its time is not that of the whole.
std::vector<char> which_reuse(const std::vector<RunRow>& runs) {
  std::vector<char> reuse(runs.size(), 0);
  base::for_each_in_parallel(runs.size(), [&](std::size_t i) {
    const auto record = RunFiles(runs[i].directory).read_record();
    if (!record) return;
    const auto& stages = record->stages;
    const bool is_reused = std::any_of(
        stages.begin(), stages.end(), [](const auto& stage) { return stage.state == "reused"; });
    if (is_reused) reuse[i] = 1;
  });
  return reuse;
}

/// A run's whole time, where sabath saw it.
compare::RunValues total_times(const std::vector<RunRow>& runs, const std::vector<char>& reuse) {
  compare::RunValues times;
  times.name = compare::total_time_name;
  times.unit = "s";
  times.better = spec::Better::lower;
  times.performance = true;
  times.judged = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_known =
        runs[i].state == spec::RunState::ok && runs[i].wall_s > 0 && reuse[i] == 0;
    times.values.push_back(is_known ? std::optional(runs[i].wall_s) : std::nullopt);
  }
  return times;
}

/// Repeats of one seed are no draws of their own.
void tell_repeats(const std::vector<RunRow>& runs,
                  const char* side,
                  spec::GroupComparison& comparison) {
  std::set<std::string> seeds;
  std::size_t seeded = 0;
  for (const RunRow& run : runs) {
    if (run.seed.empty()) continue;
    ++seeded;
    seeds.insert(run.seed);
  }
  if (seeds.size() == seeded) return;
  comparison.notes.push_back(
      fmt::format("{}: {} runs have {} seeds, and are counted as {} although repeats of a seed are "
                  "not independent",
                  side,
                  seeded,
                  seeds.size(),
                  seeded));
}

/// What all runs of a side have and none of the other: it may be the cause of a difference.
void tell_what_parts(const std::vector<RunRow>& a,
                     const std::vector<RunRow>& b,
                     const spec::RunRecord& record,
                     const catalog::Catalog& catalog,
                     spec::GroupComparison& comparison) {
  std::vector<std::string> keys{"host", "cpu", "gpu", "code", "environment"};
  for (const auto& [name, value] : record.parameters)
    keys.push_back("param." + name);
  std::vector<std::string> parting;
  for (const std::string& key : keys) {
    const std::set<std::string> of_a = distinct_values(a, key, catalog);
    const std::set<std::string> of_b = distinct_values(b, key, catalog);
    const bool share = std::any_of(
        of_a.begin(), of_a.end(), [&](const auto& value) { return of_b.contains(value); });
    if (!of_a.empty() && !of_b.empty() && !share)
      parting.push_back(key.starts_with("param.") ? key.substr(6) : key);
  }
  if (!parting.empty()) {
    comparison.notes.push_back(
        fmt::format("A and B have nothing in common in: {}", fmt::join(parting, ", ")));
  }
}

}  // namespace

std::vector<RunRow> runs_to_judge(const std::vector<RunRow>& runs,
                                  const GroupsRequest& request,
                                  const catalog::Catalog& catalog) {
  spec::GroupComparison told;
  return complete_runs(runs, request, catalog, told);
}

std::vector<std::string> levels_of(const std::vector<RunRow>& runs,
                                   const std::string& key,
                                   const catalog::Catalog& catalog) {
  if (auto values = catalog.values_of(runs, key)) return *std::move(values);
  if (auto values = values_in_records(runs, key)) return *std::move(values);
  const std::string guess = base::nearest(key, catalog.keys_of(runs));
  throw Error(ErrorKind::usage,
              "--by " + base::printable(key) + ": none of the runs has that",
              guess.empty() ? "'sabath help compare' lists what runs can be grouped by"
                            : "did you mean '" + guess + "'?");
}

spec::GroupComparison compare_groups(const std::vector<RunRow>& all,
                                     const GroupsRequest& request,
                                     const catalog::Catalog& catalog) {
  spec::GroupComparison told;
  told.by = request.by;
  const std::vector<RunRow> runs = complete_runs(all, request, catalog, told);
  if (runs.empty()) {
    told.reason = "no run is complete and to be judged";
    return told;
  }
  std::set<std::string> allowed = request.across;
  allowed.insert(request.by.begin(), request.by.end());
  const auto record = comparable(runs, allowed, catalog, told);
  if (!record) return told;
  compare::GroupsToCompare groups = groups_of(runs, *record, request, catalog, told);
  for (const std::string& key : request.by) {
    groups.factors.push_back(factor_of(key, levels_of(runs, key, catalog)));
    shorten_digests(groups.factors.back());
  }
  spec::GroupComparison comparison = compare::compare_groups(groups);
  complete(comparison, told);
  tell_what_varies(runs, *record, {request.by.begin(), request.by.end()}, catalog, comparison);
  return comparison;
}

spec::GroupComparison compare_sides(const std::vector<RunRow>& a,
                                    const std::vector<RunRow>& b,
                                    const GroupsRequest& request,
                                    const catalog::Catalog& catalog) {
  refuse_on_both(a, b);
  spec::GroupComparison told;
  told.by = {"side"};
  std::vector<RunRow> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<RunRow> runs = complete_runs(all, request, catalog, told);
  const std::vector<std::uint32_t> sides = sides_of(runs, b);
  const std::vector<RunRow> of_a = side(runs, sides, 0);
  const std::vector<RunRow> of_b = side(runs, sides, 1);
  if (of_a.empty() || of_b.empty()) {
    told.reason =
        of_a.empty() == of_b.empty()
            ? "no run is complete and to be judged"
            : fmt::format("no run of {} is complete and to be judged", of_a.empty() ? "A" : "B");
    return told;
  }
  const auto record = comparable(runs, request.across, catalog, told);
  if (!record) return told;
  compare::GroupsToCompare groups = groups_of(runs, *record, request, catalog, told);
  groups.factors = {{{"side", 2, sides}, {"A", "B"}}};
  const std::vector<char> reuse = which_reuse(runs);
  groups.metrics.push_back(total_times(runs, reuse));
  groups.two_sides = true;
  groups.speed_margin =
      compare::speed_margin_between(places_of(of_a, catalog), places_of(of_b, catalog));
  const bool one_against_many = std::min(of_a.size(), of_b.size()) == 1 && runs.size() > 2;
  if (one_against_many && !groups.require)
    told.required = "prediction interval, for one run against references";
  spec::GroupComparison comparison = compare::compare_groups(groups);
  complete(comparison, told);
  if (request.reference)
    comparison.reference = *request.reference == compare::ReferenceSide::a ? "a" : "b";
  tell_what_parts(of_a, of_b, *record, catalog, comparison);
  if (const auto count = std::count(reuse.begin(), reuse.end(), 1); count > 0) {
    comparison.notes.push_back(
        fmt::format("{} of {} runs have stages from the cache: their total times are not counted",
                    count,
                    runs.size()));
  }
  if (!groups.require) {
    tell_repeats(of_a, "A", comparison);
    tell_repeats(of_b, "B", comparison);
  }
  tell_what_varies(runs, *record, {}, catalog, comparison);
  return comparison;
}

}  // namespace sabath::app

#include <sabath/analysis/compare_pair.hpp>
#include <sabath/arrays/array_file.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/execution/empty_file.hpp>
#include <sabath/execution/keep_digest_trees.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/provenance/code_differences.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::analysis {

struct CheckedRun::Loaded {
  home::RunFiles files;
  execution::CurrentRecord current;
  std::vector<spec::Series> series;
  spec::SeriesRests rests;

  const spec::RunRecord& record() const { return current.record; }
};

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using LoadedRun = CheckedRun::Loaded;

LoadedRun load(const fs::path& directory) {
  home::RunFiles files(directory);
  std::error_code code;
  if (!fs::exists(directory, code)) {
    throw Error(ErrorKind::not_found,
                directory.string() + ": the run's folder is gone",
                "'sabath catalog reindex' removes such runs from the catalog");
  }
  auto current = execution::read_current(files);
  if (!current) {
    throw Error(ErrorKind::not_found,
                directory.filename().string() + ": the run has no record yet",
                "it is not finished, or was lost; 'sabath list runs' shows its state");
  }
  if (current->record.state == spec::RunState::imported) {
    throw Error(
        ErrorKind::usage,
        current->record.run_id + ": was imported from a table: it has no series and no outputs",
        "'sabath compare SELECTION --by FACET' compares groups of such runs");
  }
  std::vector<spec::Series> series;
  spec::SeriesRests rests;
  if (fs::exists(current->series, code)) series = arrays::read_series(current->series, &rests);
  return {files, std::move(*current), std::move(series), std::move(rests)};
}

/// Whether a series may end with this value: of its lowest rank, in earlier versions of any.
bool ends_with(const spec::Series& series, double last) {
  const std::int32_t lowest = *std::ranges::min_element(series.rank);
  std::size_t of_lowest = series.size() - 1;
  while (series.rank[of_lowest] != lowest)
    --of_lowest;
  const auto is_last = [&](double value) {
    return value == last || (std::isnan(value) && std::isnan(last));
  };
  return is_last(series.value[of_lowest]) || is_last(series.value.back());
}

/// The points must match the record, too: a missing metric does not agree.
void check_series(const LoadedRun& run) {
  for (const spec::MetricSummary& metric : run.record().metrics) {
    const auto same = [&](const spec::Series& series) {
      return series.stream == metric.stream && series.name == metric.name;
    };
    const auto found = std::ranges::find_if(run.series, same);
    const std::size_t points = found == run.series.end() ? 0 : found->size();
    if (points == metric.points) {
      if (points == 0 || ends_with(*found, metric.last)) continue;
      throw Error(ErrorKind::integrity,
                  run.current.series.string() + ": does not match the run's record",
                  "the last value of '" + metric.name + "' in stage '" + metric.stream +
                      "' is another in the record: one of them was changed after the run");
    }
    throw Error(ErrorKind::integrity,
                run.current.series.string() + ": was changed after the run",
                "it has " + std::to_string(points) + " points of '" + metric.name + "' in stage '" +
                    metric.stream + "', the run's record says " + std::to_string(metric.points));
  }
}

std::string collection_of(const execution::CurrentRecord& run) {
  return run.record.run_id +
         (run.collection > 0 ? ", collection " + std::to_string(run.collection) : ", as recorded");
}

/// Numbers that were found in different ways cannot be compared.
void check_sources(const execution::CurrentRecord& a, const execution::CurrentRecord& b) {
  const bool is_replayed = a.collection > 0 || b.collection > 0;
  const bool is_one_recipe = a.record.recipe_text == b.record.recipe_text;
  std::vector<spec::MetricSpec> all = a.declared;
  all.insert(all.end(), b.declared.begin(), b.declared.end());
  for (const spec::MetricSpec& metric : all) {
    const auto one = std::ranges::find(a.declared, metric.name, &spec::MetricSpec::name);
    const auto other = std::ranges::find(b.declared, metric.name, &spec::MetricSpec::name);
    if (one == a.declared.end() || other == b.declared.end()) {
      // Runs of other recipes have other metrics; those of one had the same until one was replayed.
      if (!is_replayed || !is_one_recipe) continue;
    } else if (one->from == other->from) {
      continue;
    }
    throw Error(ErrorKind::usage,
                "metric '" + metric.name + "' was found in another way in each run (" +
                    collection_of(a) + "; " + collection_of(b) + ")",
                "'sabath collect RUN --with FILE' reads both with the same patterns");
  }
}

/// Folders and patterns with a file that has bytes. Their empty files, such as _SUCCESS, are marks.
std::set<std::pair<std::string, std::string>> filled_folders(const spec::RunRecord& record) {
  std::set<std::pair<std::string, std::string>> filled;
  for (const spec::OutputRecord& output : record.outputs)
    if (output.part_of && output.size_bytes > 0) filled.emplace(output.stage, *output.part_of);
  return filled;
}

compare::Side side_of(const LoadedRun& run) {
  compare::Side side{run.record(),
                     run.series,
                     {},
                     provenance::worktree_state(run.record(), run.files.directory()),
                     run.rests};
  const auto filled = filled_folders(run.record());
  for (const spec::OutputRecord& output : run.record().outputs) {
    const fs::path path = run.files.outputs(output.stage) / output.path;
    compare::OutputSide& made = side.outputs[output.stage + "/" + output.path];
    made = {output.digest, output.size_bytes};
    made.is_marker = output.part_of && output.size_bytes == 0 &&
                     filled.contains({output.stage, *output.part_of});
    if (output.is_outdated()) {
      made.unknown = "a later stage of " + run.record().run_id +
                     " changed it, and what it was when the run ended is not in the record";
      continue;
    }
    if (output.trees) {
      made.trees = [files = run.files, output] { return execution::read_trees(files, output); };
    }
    if (!fs::exists(path)) continue;
    made.open = [path](const spec::OutputRule& rule) { return arrays::open_arrays(path, rule); };
    made.holds_nothing = [path] { return execution::holds_nothing(path); };
    made.outside = [path](const spec::OutputRule& rule) {
      return arrays::outside_values(path, rule);
    };
  }
  return side;
}

// ---- perturbed reruns

bool is_perturbed(const spec::RunRecord& record, const std::string& perturbation) {
  const auto value = record.parameters.find(perturbation);
  return value != record.parameters.end() && value->second != spec::ParameterValue(std::int64_t{0});
}

/// Differences of a rerun, except its perturbation and its user.
std::vector<spec::FacetDifference> unlike(const LoadedRun& run,
                                          const LoadedRun& rerun,
                                          const std::string& perturbation) {
  std::vector<spec::FacetDifference> differences =
      compare::facet_differences(run.record(), rerun.record());
  std::erase_if(differences, [&](const spec::FacetDifference& difference) {
    const std::string& item = difference.item;
    if (difference.facet == "launch") return item == "user" || item == "launcher" || item == "site";
    return difference.facet == "parameters" && item == perturbation;
  });
  return differences;
}

/// The side from which the reruns differ less.
compare::ReferenceSide reference_among(const LoadedRun& a,
                                       const LoadedRun& b,
                                       const std::vector<LoadedRun>& reruns,
                                       const std::string& perturbation) {
  const auto differences = [&](const LoadedRun& run) {
    std::size_t count = is_perturbed(run.record(), perturbation) ? 1 : 0;
    for (const LoadedRun& rerun : reruns)
      count += unlike(run, rerun, perturbation).size();
    return count;
  };
  const std::size_t of_a = differences(a);
  const std::size_t of_b = differences(b);
  const auto is_unlike = [&](const LoadedRun& run) {
    return !unlike(run, reruns.front(), perturbation).empty();
  };
  if (of_a == of_b && is_unlike(a) && is_unlike(b)) {
    const spec::FacetDifference first = unlike(a, reruns.front(), perturbation).front();
    throw Error(ErrorKind::usage,
                "--envelope: the reruns are neither those of " + a.record().run_id + " nor of " +
                    b.record().run_id + ": both differ from " + reruns.front().record().run_id +
                    " in more than the perturbation, the first in " + first.facet + " " +
                    first.item,
                "name reruns of A or of B, with their parameters, seed and host");
  }
  if (of_a == of_b) {
    throw Error(ErrorKind::usage,
                "--envelope: the reruns may be those of " + a.record().run_id + " or of " +
                    b.record().run_id,
                "name it with --reference a or --reference b");
  }
  return of_b < of_a ? compare::ReferenceSide::b : compare::ReferenceSide::a;
}

void refuse_rerun(const LoadedRun& run, const std::string& problem) {
  throw Error(ErrorKind::usage,
              run.record().run_id + ": " + problem,
              "'sabath run RECIPE --perturb 1ulp --repeat 5 --seed S' on the host of the "
              "reference, with its parameters and its seed");
}

void check_rerun(const LoadedRun& reference,
                 const LoadedRun& rerun,
                 const std::string& perturbation) {
  const spec::RunRecord& record = rerun.record();
  if (!is_perturbed(record, perturbation))
    refuse_rerun(rerun, "is not perturbed: it shows no envelope");
  if (record.state != spec::RunState::ok)
    refuse_rerun(rerun, "is not complete: it shows no envelope");
  const auto differences = unlike(reference, rerun, perturbation);
  if (differences.empty()) return;
  const spec::FacetDifference& first = differences.front();
  refuse_rerun(rerun,
               "differs from " + reference.record().run_id +
                   " in more than the perturbation: " + first.facet + " " + first.item + " ('" +
                   first.b + "', not '" + first.a + "'): it shows no envelope");
}

void check_count(std::size_t count, const std::string& perturbation) {
  constexpr std::size_t fewest = 3;
  if (count >= fewest) return;
  throw Error(ErrorKind::usage,
              "--envelope: an envelope needs at least 3 perturbed reruns, each with its own '" +
                  perturbation + "', there are " + std::to_string(count),
              "'sabath run RECIPE --perturb 1ulp --repeat 5 --seed S' makes five");
}

std::vector<LoadedRun> load_reruns(const LoadedRun& a,
                                   const LoadedRun& b,
                                   const std::vector<fs::path>& perturbed,
                                   const spec::Recipe& recipe,
                                   compare::Options& options) {
  const std::string perturbation = planning::perturbation_parameter("1ulp");
  check_count(perturbed.size(), perturbation);
  if (recipe.parameter(perturbation) == nullptr) {
    throw Error(
        ErrorKind::usage,
        "--envelope: the recipe " + recipe.name + " has no parameter '" + perturbation + "'",
        "see 'sabath help run' for codes that can be perturbed");
  }
  std::vector<LoadedRun> reruns;
  for (const fs::path& path : perturbed)
    reruns.push_back(load(path));
  if (!options.reference) options.reference = reference_among(a, b, reruns, perturbation);
  const LoadedRun& reference = *options.reference == compare::ReferenceSide::a ? a : b;
  if (is_perturbed(reference.record(), perturbation))
    refuse_rerun(reference, "is perturbed itself: it cannot be the reference");
  std::set<std::string> distinct;  // one perturbation made twice shows no more than once
  for (const LoadedRun& rerun : reruns) {
    check_rerun(reference, rerun, perturbation);
    check_series(rerun);
    home::require_unchanged_outputs(rerun.files, rerun.record());
    distinct.insert(spec::to_string(rerun.record().parameters.at(perturbation)));
  }
  check_count(distinct.size(), perturbation);
  return reruns;
}

// ---- rules

compare::Rules rules_of(const LoadedRun& run) {
  const spec::Recipe recipe =
      spec::parse_recipe(run.record().recipe_text, run.files.record().string());
  return {spec::with_derived(run.current.declared), recipe.compare, recipe.require, {}, {}};
}

}  // namespace

CheckedRun::CheckedRun(const fs::path& directory)
    : loaded_(std::make_shared<const Loaded>(load(directory))) {
  home::require_unchanged_outputs(loaded_->files, loaded_->record());
  check_series(*loaded_);
}

spec::Comparison compare_pair(const fs::path& run_a,
                              const fs::path& run_b,
                              compare::Options options,
                              const std::vector<fs::path>& perturbed) {
  return compare_pair(CheckedRun(run_a), CheckedRun(run_b), std::move(options), perturbed);
}

spec::Comparison compare_pair(const CheckedRun& run_a,
                              const CheckedRun& run_b,
                              compare::Options options,
                              const std::vector<fs::path>& perturbed) {
  const LoadedRun& a = run_a.loaded();
  const LoadedRun& b = run_b.loaded();
  check_sources(a.current, b.current);
  const spec::Recipe recipe = spec::parse_recipe(a.record().recipe_text, a.files.record().string());
  const compare::Rules rules = compare::merged_rules(rules_of(a), rules_of(b));
  std::vector<LoadedRun> reruns;
  if (!perturbed.empty()) reruns = load_reruns(a, b, perturbed, recipe, options);
  std::vector<compare::Side> sides;
  for (const LoadedRun& rerun : reruns)
    sides.push_back(side_of(rerun));
  for (const compare::Side& side : sides)
    options.envelope.push_back(&side);
  spec::Comparison comparison = compare::compare_runs(side_of(a), side_of(b), rules, options);
  provenance::add_code_differences(
      {a.record(), a.files.directory()}, {b.record(), b.files.directory()}, comparison);
  return comparison;
}

}  // namespace sabath::analysis

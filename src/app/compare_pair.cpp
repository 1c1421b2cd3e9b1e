#include "output_trees.hpp"

#include <sabath/app/collect_run.hpp>
#include <sabath/app/compare_pair.hpp>
#include <sabath/app/perturbation.hpp>
#include <sabath/arrays/array_file.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/spec/derived_metric.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// A finished run, read.
struct LoadedRun {
  RunFiles files;
  CurrentRecord current;
  std::vector<spec::Series> series;

  const spec::RunRecord& record() const { return current.record; }
};

LoadedRun load(const fs::path& directory) {
  RunFiles files(directory);
  std::error_code code;
  if (!fs::exists(directory, code)) {
    throw Error(ErrorKind::not_found,
                directory.string() + ": the run's folder is gone",
                "'sabath catalog reindex' forgets runs that are no longer there");
  }
  auto current = read_current(files);
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
  if (fs::exists(current->series, code)) series = arrays::read_series(current->series);
  return {files, std::move(*current), std::move(series)};
}

/// The outputs' bytes must still be those that the record speaks of: equal digests in two records
/// prove nothing about what lies there now. Outputs that were removed are judged by the record.
void check_outputs(const LoadedRun& run) {
  for (const spec::OutputRecord& output : run.record().outputs) {
    const fs::path path = run.files.outputs(output.stage) / output.path;
    if (!fs::exists(fs::symlink_status(path)) || base::digest_file(path) == output.digest) continue;
    throw Error(ErrorKind::integrity,
                path.string() + ": was changed after the run",
                "its digest is no longer the one in the run's record");
  }
}

/// So must the points be all those that the record sums up: a metric that is gone is no agreement.
void check_series(const LoadedRun& run) {
  for (const spec::MetricSummary& metric : run.record().metrics) {
    const auto same = [&](const spec::Series& series) {
      return series.stream == metric.stream && series.name == metric.name;
    };
    const auto found = std::find_if(run.series.begin(), run.series.end(), same);
    const std::size_t points = found == run.series.end() ? 0 : found->size();
    if (points == metric.points) continue;
    throw Error(ErrorKind::integrity,
                run.current.series.string() + ": was changed after the run",
                "it has " + std::to_string(points) + " points of '" + metric.name + "' in stage '" +
                    metric.stream + "', the run's record says " + std::to_string(metric.points));
  }
}

std::string collection_of(const CurrentRecord& run) {
  return run.record.run_id +
         (run.collection > 0 ? ", collection " + std::to_string(run.collection) : ", as recorded");
}

/// Numbers that were found in different ways are no two values of one thing.
void check_sources(const CurrentRecord& a, const CurrentRecord& b) {
  for (const spec::MetricSpec& metric : a.declared) {
    const auto same_name = [&](const spec::MetricSpec& other) { return other.name == metric.name; };
    const auto other = std::find_if(b.declared.begin(), b.declared.end(), same_name);
    if (other == b.declared.end() || other->from == metric.from) continue;
    throw Error(ErrorKind::usage,
                "metric '" + metric.name + "' was found in another way in each run (" +
                    collection_of(a) + "; " + collection_of(b) + ")",
                "'sabath collect RUN --with FILE' reads both with the same patterns");
  }
}

compare::Side side_of(const LoadedRun& run) {
  compare::Side side{run.record(), run.series, {}};
  for (const spec::OutputRecord& output : run.record().outputs) {
    const fs::path path = run.files.outputs(output.stage) / output.path;
    compare::OutputSide& made = side.outputs[output.stage + "/" + output.path];
    made = {output.digest, output.size_bytes, {}, {}};
    if (output.trees) {
      made.trees = [files = run.files, output] { return read_trees(files, output); };
    }
    if (!fs::exists(path)) continue;
    made.open = [path](const spec::OutputRule& rule) { return arrays::open_arrays(path, rule); };
  }
  return side;
}

// ---- perturbed reruns

/// How many parameters, but for the one that numbers perturbations, have other values.
std::size_t other_parameters(const spec::RunRecord& a,
                             const spec::RunRecord& b,
                             const std::string& perturbation) {
  std::size_t count = 0;
  for (const auto& [name, value] : a.parameters) {
    const auto other = b.parameters.find(name);
    if (name != perturbation && (other == b.parameters.end() || other->second != value)) ++count;
  }
  return count;
}

bool is_perturbed(const spec::RunRecord& record, const std::string& perturbation) {
  const auto value = record.parameters.find(perturbation);
  return value != record.parameters.end() && value->second != spec::ParameterValue(std::int64_t{0});
}

compare::ReferenceSide reference_among(const LoadedRun& a,
                                       const LoadedRun& b,
                                       const LoadedRun& rerun,
                                       const std::string& perturbation) {
  const auto unlike = [&](const LoadedRun& run) {
    return other_parameters(run.record(), rerun.record(), perturbation) +
           (is_perturbed(run.record(), perturbation) ? 1 : 0);
  };
  return unlike(b) < unlike(a) ? compare::ReferenceSide::b : compare::ReferenceSide::a;
}

void check_rerun(const LoadedRun& reference,
                 const LoadedRun& rerun,
                 const std::string& perturbation) {
  const spec::RunRecord& record = rerun.record();
  const spec::RunRecord& of = reference.record();
  std::string problem;
  if (!is_perturbed(record, perturbation)) {
    problem = "is not perturbed";
  } else if (record.state != spec::RunState::ok || record.task != of.task) {
    problem = "is not complete, or of another task";
  } else if (record.recipe_definition != of.recipe_definition) {
    problem = "is of another recipe than " + of.run_id;
  } else if (record.seed.value != of.seed.value) {
    problem = "has another seed than " + of.run_id;
  } else if (other_parameters(of, record, perturbation) > 0) {
    problem = "has other parameters than " + of.run_id;
  }
  if (problem.empty()) return;
  throw Error(ErrorKind::usage,
              record.run_id + ": " + problem + ": it shows no envelope",
              "'sabath run RECIPE --perturb 1ulp --repeat 5 --seed S' with the parameters and the "
              "seed of the reference");
}

/// Loads the reruns and says which side they are of.
std::vector<LoadedRun> load_reruns(const LoadedRun& a,
                                   const LoadedRun& b,
                                   const std::vector<fs::path>& perturbed,
                                   const spec::Recipe& recipe,
                                   compare::Options& options) {
  constexpr std::size_t fewest = 3;
  if (perturbed.size() < fewest) {
    throw Error(ErrorKind::usage,
                "--envelope: an envelope wants at least 3 perturbed reruns, there are " +
                    std::to_string(perturbed.size()),
                "'sabath run RECIPE --perturb 1ulp --repeat 5 --seed S' makes five");
  }
  const std::string perturbation = perturbation_parameter("1ulp");
  if (recipe.parameter(perturbation) == nullptr) {
    throw Error(
        ErrorKind::usage,
        "--envelope: the recipe " + recipe.name + " has no parameter '" + perturbation + "'",
        "'sabath help run' says what a code that can be perturbed has");
  }
  std::vector<LoadedRun> reruns;
  for (const fs::path& path : perturbed)
    reruns.push_back(load(path));
  if (!options.reference) options.reference = reference_among(a, b, reruns.front(), perturbation);
  const LoadedRun& reference = *options.reference == compare::ReferenceSide::a ? a : b;
  for (const LoadedRun& rerun : reruns) {
    check_rerun(reference, rerun, perturbation);
    check_series(rerun);
    check_outputs(rerun);
  }
  return reruns;
}

}  // namespace

spec::Comparison compare_pair(const fs::path& run_a,
                              const fs::path& run_b,
                              compare::Options options,
                              const std::vector<fs::path>& perturbed) {
  const LoadedRun a = load(run_a);
  const LoadedRun b = load(run_b);
  for (const LoadedRun* run : {&a, &b}) {
    check_outputs(*run);
    check_series(*run);
  }
  check_sources(a.current, b.current);
  const spec::Recipe recipe = spec::parse_recipe(a.record().recipe_text, a.files.record().string());
  const compare::Rules rules{
      spec::with_derived(a.current.declared), recipe.compare, recipe.require};
  if (perturbed.empty()) return compare::compare_runs(side_of(a), side_of(b), rules, options);
  const std::vector<LoadedRun> reruns = load_reruns(a, b, perturbed, recipe, options);
  std::vector<compare::Side> sides;
  for (const LoadedRun& rerun : reruns)
    sides.push_back(side_of(rerun));
  for (const compare::Side& side : sides)
    options.envelope.push_back(&side);
  return compare::compare_runs(side_of(a), side_of(b), rules, options);
}

}  // namespace sabath::app

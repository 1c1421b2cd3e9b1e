#include <sabath/analysis/rcp_sides.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/collect/number_text.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace sabath::analysis {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

struct Converged {
  std::uint64_t batch_size = 0;
  std::string batch_parameter{};
  spec::MetricSpec metric{};
  double epochs = std::numeric_limits<double>::quiet_NaN();  ///< NaN: it never reached its target
  std::vector<spec::SeedPlace> seeds{};
};

const spec::MetricSpec& metric_with_target(const execution::CurrentRecord& run) {
  const spec::MetricSpec* found = nullptr;
  for (const spec::MetricSpec& metric : run.declared) {
    if (!metric.target) continue;
    if (found != nullptr) {
      throw Error(ErrorKind::usage,
                  "--rcp: several metrics of the recipe have a target: " + found->name + ", " +
                      metric.name);
    }
    found = &metric;
  }
  if (found != nullptr) return *found;
  throw Error(ErrorKind::usage,
              "--rcp: no metric of " + run.record.recipe_name + " has a target to converge to",
              "\"target\" of a metric: docs/formats/recipe.md");
}

struct BatchSize {
  std::string parameter{};
  std::uint64_t size = 0;
};

std::optional<BatchSize> find_batch_size(const spec::RunRecord& record) {
  for (const char* name : {"global_batch_size", "batch_size", "batch"}) {
    std::string text;
    if (const auto own = record.parameters.find(name); own != record.parameters.end())
      text = spec::to_string(own->second);
    if (record.collected && record.collected->parameters.contains(name))
      text = record.collected->parameters.at(name);
    const auto number = collect::whole_number_of(text);
    if (number && *number >= 1) return BatchSize{name, static_cast<std::uint64_t>(*number)};
  }
  return std::nullopt;
}

BatchSize batch_size_of(const spec::RunRecord& record) {
  if (auto found = find_batch_size(record)) return *std::move(found);
  throw Error(ErrorKind::usage,
              "--rcp: " + record.run_id + " has no batch size",
              "a parameter global_batch_size, batch_size or batch, or what the code reports");
}

/// Epoch (else step) of the first point that reaches the target.
double epochs_to(const std::vector<spec::Series>& all, const spec::MetricSpec& metric) {
  for (const spec::Series& series : all) {
    if (series.name != metric.name) continue;
    for (std::size_t i = 0; i < series.size(); ++i) {
      const bool reached = metric.better == spec::Better::higher
                               ? series.value[i] >= *metric.target
                               : series.value[i] <= *metric.target;
      if (!reached) continue;
      if (series.epoch[i] != base::no_step) return static_cast<double>(series.epoch[i]);
      if (series.step[i] != base::no_step) return static_cast<double>(series.step[i]);
      return static_cast<double>(i + 1);
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Seeds that the code reported, with the lines, else the seed of the run.
std::vector<spec::SeedPlace> seeds_of(const spec::RunRecord& record) {
  std::vector<spec::SeedPlace> seeds;
  if (record.collected) {
    seeds = record.collected->seed_places.value_or(seeds);
    if (!record.collected->seed_places) {
      for (const std::string& text : record.collected->seeds)
        seeds.push_back({text, record.recipe_name, 0});
    }
  }
  if (seeds.empty() && record.seed.value)
    seeds.push_back({std::to_string(*record.seed.value), record.recipe_name, 0});
  return seeds;
}

std::vector<Converged> read_all(const std::vector<catalog::RunRow>& runs) {
  std::vector<Converged> all;
  for (const catalog::RunRow& run : runs) {
    if (run.state != spec::RunState::ok) continue;
    const auto current = execution::read_current(home::RunFiles(run.directory));
    if (!current) continue;
    const spec::MetricSpec& target = metric_with_target(*current);
    std::error_code code;
    const auto series = fs::exists(current->series, code) ? arrays::read_series(current->series)
                                                          : std::vector<spec::Series>{};
    const BatchSize batch = batch_size_of(current->record);
    all.push_back({batch.size,
                   batch.parameter,
                   target,
                   epochs_to(series, target),
                   seeds_of(current->record)});
  }
  return all;
}

void check_alike(const Converged& one, const std::vector<Converged>& runs) {
  for (const Converged& run : runs) {
    const spec::MetricSpec& metric = run.metric;
    if (metric.name != one.metric.name || metric.target != one.metric.target ||
        metric.better != one.metric.better) {
      throw Error(ErrorKind::usage,
                  fmt::format("--rcp: the runs converge to other targets: {} {}, and {} {}",
                              one.metric.name,
                              *one.metric.target,
                              metric.name,
                              *metric.target),
                  "select runs of one recipe, or of one version of it");
    }
    if (run.batch_parameter == one.batch_parameter) continue;
    throw Error(ErrorKind::usage,
                "--rcp: the batch size is '" + one.batch_parameter + "' of some runs and '" +
                    run.batch_parameter + "' of others",
                "select runs whose recipe names one parameter");
  }
}

void check_seeds_of(const std::vector<Converged>& runs, spec::RcpFinding& finding) {
  std::vector<std::vector<spec::SeedPlace>> seeds;
  for (const Converged& run : runs)
    seeds.push_back(run.seeds);
  const compare::SeedVerdict verdict = compare::check_seeds(seeds);
  finding.seeds = verdict.verdict;
  finding.seeds_reason = verdict.reason;
}

}  // namespace

spec::RcpFinding rcp_of_sides(const std::vector<catalog::RunRow>& a,
                              const std::vector<catalog::RunRow>& b,
                              compare::RcpReading reading) {
  spec::RcpFinding finding;
  finding.reading = reading == compare::RcpReading::code ? "code" : "policy";
  const std::vector<Converged> references = read_all(a);
  const std::vector<Converged> submission = read_all(b);
  constexpr std::size_t fewest = 3;
  if (references.empty() || submission.size() < fewest) {
    throw Error(ErrorKind::usage,
                fmt::format("--rcp: A are the references, B is a submission of three runs or more; "
                            "there are {} and {} complete runs",
                            references.size(),
                            submission.size()));
  }
  check_alike(references.front(), references);
  check_alike(references.front(), submission);
  finding.metric = references.front().metric.name;
  std::map<std::uint64_t, std::vector<double>> by_batch;
  for (const Converged& run : references)
    by_batch[run.batch_size].push_back(run.epochs);
  std::vector<compare::RcpRuns> points;
  for (auto& [batch, epochs] : by_batch)
    points.push_back({batch, std::move(epochs)});
  finding.batch_size = submission.front().batch_size;
  std::vector<double> epochs;
  for (const Converged& run : submission) {
    if (run.batch_size != finding.batch_size)
      throw Error(ErrorKind::usage, "--rcp: the runs of B have several batch sizes");
    epochs.push_back(run.epochs);
  }
  compare::RcpRules rules;
  rules.reading = reading;
  rules.submission_runs = submission.size();
  const compare::RcpVerdict verdict = compare::check_rcp(points, finding.batch_size, epochs, rules);
  finding.verdict = verdict.verdict;
  finding.reason = verdict.reason;
  finding.mean = verdict.mean;
  finding.scale = verdict.scale;
  if (verdict.point) {
    finding.reference_runs = verdict.point->n_reference;
    finding.reference_mean = verdict.point->mean;
    finding.minimum = verdict.point->minimum;
    finding.interpolated = verdict.point->interpolated;
  }
  check_seeds_of(submission, finding);
  return finding;
}

std::optional<std::string> batch_parameter_of(const std::vector<catalog::RunRow>& runs) {
  for (const catalog::RunRow& run : runs) {
    if (run.state != spec::RunState::ok) continue;
    const auto current = execution::read_current(home::RunFiles(run.directory));
    const auto found = current ? find_batch_size(current->record) : std::nullopt;
    if (found) return found->parameter;
  }
  return std::nullopt;
}

}  // namespace sabath::analysis

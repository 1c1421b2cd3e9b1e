#include "record_builder.hpp"

#include "attempts.hpp"
#include "collect_stages.hpp"
#include "determinism.hpp"
#include "job_facts.hpp"
#include "rank/rank_files.hpp"
#include "run_facets.hpp"
#include "run_steps.hpp"

#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/session_digests.hpp>
#include <sabath/probe/energy.hpp>
#include <sabath/spec/job.hpp>

#include <algorithm>

namespace sabath::execution {

using base::Error;
using base::ErrorKind;

void RecordBuilder::start(int number) {
  attempt_ = number;
  started_ = context_.clock.steady();
  record_.started = base::format_rfc3339(context_.clock.now());
}

double RecordBuilder::seconds() const {
  return std::chrono::duration<double>(context_.clock.steady() - started_).count();
}

void RecordBuilder::add_jobs() {
  if (context_.earlier) record_.jobs = context_.earlier->jobs;
  if (!context_.job) return;
  if (!record_.jobs) record_.jobs.emplace();
  record_.jobs->push_back(*context_.job);
}

void RecordBuilder::take_stages(StagesOutcome outcome) {
  record_.stages = std::move(outcome.stages);
  record_.outputs = std::move(outcome.outputs);
  record_.state = outcome.state;
  record_.message = outcome.message;
  masked_ += outcome.masked;
  executed_ = outcome.executed;
}

void RecordBuilder::take_software(FoundSoftware software) {
  software_ = std::move(software);
  record_.wall_s = seconds();
  take_ranks();
  take_earlier();
}

/// Takes what ranks of parallel stages saw where this process could not.
void RecordBuilder::take_ranks() {
  std::vector<std::string> parallel;
  for (const spec::StageRecord& stage : record_.stages) {
    if (stage.prefix && stage.state != "reused") parallel.push_back(stage.name);
  }
  if (parallel.empty()) return;
  take_nodes(context_.files.attempt(attempt_), parallel, record_.wall_s, record_);
  if (record_.energy_readings) record_.energy = probe::energy_text(*record_.energy_readings, {});
}

void RecordBuilder::take_earlier() {
  const auto& earlier = context_.earlier;
  if (!earlier || has_earlier_) return;
  has_earlier_ = true;
  put_before(*earlier, record_, software_);
  for (const spec::StageRecord& stage : earlier->stages) {
    if (stage.state == "ok" || stage.state == "reused") executed_.push_back(stage.name);
  }
  masked_ += earlier->masked.value_or(0);
  if (record_.energy_readings && earlier->energy_readings)
    record_.energy = probe::energy_text(*record_.energy_readings, {});
}

void RecordBuilder::fail(const Error& error) {
  if (is_ok()) {
    record_.state = error.kind() == ErrorKind::interrupted ? spec::RunState::interrupted
                                                           : spec::RunState::failed;
  }
  record_.message += (record_.message.empty() ? "" : "; ") + std::string(error.what());
}

void RecordBuilder::keep_earlier() {
  if (!context_.earlier || has_earlier_) return;
  take_earlier();
  try {
    collect_metrics();
  } catch (const std::exception& error) {
    fail(Error(ErrorKind::storage, error.what()));
  }
}

void RecordBuilder::collect_metrics() {
  const auto& plan = context_.plan;
  const auto files = files_of(executed_, plan, context_.files, attempt_, own_stop_);
  const CollectedStages found =
      collect_stages(files, context_.recipe.metrics, context_.files.series());
  record_.metrics = found.metrics;
  spec::Collected collected = found.collected();
  for (spec::StageRecord& stage : record_.stages) {
    const auto extraction = found.stages.find(stage.name);
    note_earlier(files, stage);
    if (extraction != found.stages.end()) stage.bad_metric_lines = extraction->second.bad_lines;
    // A run whose numbers are not all known must not pass as successful.
    const std::string problem = found.problem(stage.name);
    if (!problem.empty() && is_ok()) fail(Error(ErrorKind::usage, problem));
  }
  if (is_ok() && plan.only_stage.empty()) {
    const auto missing = found.missing(context_.recipe.metrics);
    collected.notes.insert(collected.notes.end(), missing.begin(), missing.end());
  }
  for (const auto& [name, condition] : context_.recipe.stop_if) {
    const std::string& metric = name;
    if (std::ranges::find(found.metrics, metric, &spec::MetricSummary::name) != found.metrics.end())
      continue;
    collected.notes.push_back("stop_if: no stage reported '" + base::printable(name) +
                              "', so that its conditions were not checked");
  }
  const std::string failed =
      base::variable_of(base::current_environment(), spec::job_setup_variable);
  if (context_.node.batch && !failed.empty()) {
    collected.notes.push_back("setup of the site: " + failed + "; 'sabath logs " +
                              context_.plan.run_id + " --job' has its errors");
  }
  for (const std::string& note : collected.notes)
    context_.observer.warn(note);
  if (!collected.empty()) record_.collected = std::move(collected);
  record_.determinism =
      determinism_of(plan, context_.recipe, base::current_environment(), found, software_.threads);
}

void RecordBuilder::fill_step() {
  record_.run_id = context_.plan.run_id;
  record_.ended = base::format_rfc3339(context_.clock.now());
  record_.software = software_.software;
  if (!software_.opened.name.empty()) record_.facets = {software_.opened};
  record_.determinism.emplace().threads = software_.threads;
  if (masked_ > 0) record_.masked = masked_;
}

void RecordBuilder::fill() {
  const spec::RunPlan& plan = context_.plan;
  const spec::Recipe& recipe = context_.recipe;
  record_.ended = base::format_rfc3339(context_.clock.now());
  record_.wall_s = seconds() + (context_.earlier ? context_.earlier->wall_s : 0);
  record_.attempts = attempts_before(context_.files, attempt_);
  if (record_.inputs.empty()) record_.inputs = plan.inputs;
  take_plan(plan, recipe, record_);
  if (record_.energy.empty()) record_.energy = "none: no stage was started";
  record_.facets = make_facets(plan, record_.hosts, recipe, base::current_environment());
  record_.facets.push_back(session_digests(plan, base::current_environment()));
  if (masked_ > 0) record_.masked = masked_;
  if (!record_.determinism) return;  // the run failed before
  record_.software = software_.software;
  add_software_facets(software_, plan, context_.files.directory(), record_.facets);
  record_.facets.push_back(determinism_facet(*record_.determinism, plan, software_.threads));
}

}  // namespace sabath::execution

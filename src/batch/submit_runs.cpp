#include "batch_throttle.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/version.hpp>
#include <sabath/batch/batch_steps.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/batch/submit_runs.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/program_bundle.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/expand_study.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;

/// The default of Slurm is one more, and counts from 0.
constexpr std::size_t usual_array = 1000;

spec::BatchPlan batch_of(const std::string& id, const SubmitTools& tools) {
  spec::BatchPlan plan;
  plan.batch_id = id;
  plan.site = tools.site;
  plan.runs_directory = tools.folders.runs().string();
  plan.created = base::format_rfc3339(tools.clock.now());
  plan.sabath_version = base::version();
  return plan;
}

/// Files to and from a node that does not see ours.
void move_files(const home::BatchFiles& files,
                const spec::BatchPlan& plan,
                const fs::path& program,
                launch::BatchJob& job) {
  const home::Bundle bundle = home::make_bundle(files, plan);
  if (plan.site.program.empty()) job.inputs = home::program_bundle(program, files.directory());
  job.inputs.push_back(bundle.archive);
  job.inputs.insert(job.inputs.end(), bundle.inputs.begin(), bundle.inputs.end());
  job.outputs = {home::returned_name("{task}")};
  job.argv = {"exec", "--bundle", bundle.archive.string()};
}

launch::BatchJob job_of(const home::BatchFiles& files,
                        const spec::BatchPlan& plan,
                        std::size_t step,
                        const SubmitTools& tools) {
  launch::BatchJob job;
  job.name = plan.batch_id;
  job.comment = comment_of(plan, step);
  job.script = files.script(step);
  job.log = files.log(step);
  job.argv = {"exec", "--batch", files.directory().string()};
  if (tools.scheduler.description().moves_files()) move_files(files, plan, tools.program, job);
  job.argv.insert(job.argv.begin(),
                  plan.site.program.empty() ? tools.program.string() : plan.site.program);
  job.argv.insert(job.argv.end(), {"--task", "{task}"});
  if (plan.steps.size() > 1) job.argv.insert(job.argv.end(), {"--step", std::to_string(step)});
  job.tasks = plan.is_array() ? plan.tasks() : 0;
  job.resources = plan.steps.at(step - 1).resources;
  return job;
}

/// Returns the first job of a batch that has to wait for another one. Nothing where that is over:
/// the scheduler may have forgotten it.
void wait_for_earlier(const home::BatchFiles& files,
                      const spec::BatchPlan& plan,
                      launch::BatchJob& job) {
  if (!plan.after) return;
  const home::BatchFiles earlier(files.directory().parent_path() / *plan.after);
  const auto jobs = earlier.read_jobs();
  const spec::BatchPlan its = earlier.read_plan();
  std::error_code code;
  const auto has_ended = [&](const std::string& run) {
    return fs::exists(earlier.ended() / run, code);
  };
  if (!jobs || jobs->jobs.empty() || std::ranges::all_of(its.runs, has_ended)) return;
  job.after_any = jobs->jobs.back();
  job.after_any_is_array = its.is_array();
}

/// Submits a batch to the scheduler. Throws as launch::Scheduler::submit; writes down what was
/// accepted before.
void submit_batch(const home::BatchFiles& files,
                  const spec::BatchPlan& plan,
                  const SubmitTools& tools,
                  const std::stop_token& stop) {
  files.note_submitter();
  spec::BatchJobs jobs;
  const auto is_cancelled = [&] {
    return std::ranges::all_of(plan.runs,
                               [&](const std::string& run) { return files.is_cancelled(run); });
  };
  for (std::size_t step = 1; step <= plan.steps.size(); ++step) {
    if (step > 1 && is_cancelled())
      throw launch::Refusal(base::ErrorKind::interrupted, "it was cancelled meanwhile");
    launch::BatchJob job = job_of(files, plan, step, tools);
    if (jobs.jobs.empty()) {
      wait_for_earlier(files, plan, job);
    } else {
      job.after = jobs.jobs.back();
    }
    jobs.jobs.push_back(tools.scheduler.submit(job, stop));
    jobs.submitted = base::format_rfc3339(tools.clock.now());
    files.write_jobs(jobs);
  }
  // A process that cancelled the batch did not know of the last job.
  if (plan.steps.size() > 1 && is_cancelled()) tools.scheduler.cancel(jobs.jobs, stop);
}

/// Closes what the scheduler lacks: nobody waits for it.
void close_refused(const spec::BatchPlan& plan, const std::string& why, base::Clock& clock) {
  const fs::path runs = plan.runs_directory;
  for (const std::string& id : plan.runs) {
    home::close_run(home::RunFiles(runs / id), spec::RunState::interrupted, why, clock);
  }
}

/// The first of several steps may be accepted; it is useless without the others. Returns what
/// became of them.
std::string end_accepted(const home::BatchFiles& files,
                         const spec::BatchPlan& plan,
                         const spec::BatchJobs& jobs,
                         const std::string& why,
                         const SubmitTools& tools) {
  try {
    end_runs({files, plan, tools.scheduler, jobs.jobs, {plan.runs.begin(), plan.runs.end()}, why},
             tools.clock,
             {});
  } catch (const base::Error& error) {
    // The next look sees that steps are missing, and tries again.
    return "what was handed in before could not be ended: " + std::string(error.what());
  }
  return "what was handed in before is ended";
}

/// Closes what the scheduler refuses. `then` is the hint for the user.
void hand_in(const home::BatchFiles& files,
             const spec::BatchPlan& plan,
             const SubmitTools& tools,
             const std::string& then,
             const std::stop_token& stop) {
  files.write_plan(plan);
  const auto refuse = [&](const base::Error& error) {
    const auto jobs = files.read_jobs();
    if (!jobs) {
      close_refused(plan, "it was not handed in: " + std::string(error.what()), tools.clock);
      return;
    }
    const std::string why = never_handed_in(plan, jobs->jobs.size()) + ": " + error.what();
    const std::string outcome = end_accepted(files, plan, *jobs, why, tools);
    throw launch::Refusal(error.kind(),
                          plan.batch_id + ": " + why + "; " + outcome,
                          error.hint() + (error.hint().empty() ? "" : "; ") + then);
  };
  try {
    submit_batch(files, plan, tools, stop);
  } catch (const launch::Refusal& error) {
    refuse(error);
    throw;
  } catch (const base::Error& error) {
    // Another error may come after the scheduler accepted the job: the next look then finds it.
    if (error.kind() == base::ErrorKind::usage) refuse(error);
    throw;
  }
}

std::size_t runs_in_one_array(const spec::Site& site,
                              launch::Scheduler& scheduler,
                              int pack,
                              const std::stop_token& stop) {
  if (!scheduler.description().has_arrays()) return static_cast<std::size_t>(pack);
  std::size_t tasks = static_cast<std::size_t>(site.largest_array);
  if (tasks == 0) tasks = scheduler.largest_array(stop).value_or(usual_array);
  return std::max<std::size_t>(tasks, 1) * static_cast<std::size_t>(pack);
}

std::size_t tasks_of(std::size_t runs, int pack) {
  const auto each = static_cast<std::size_t>(std::max(pack, 1));
  return (runs + each - 1) / each;
}

/// Returns the number of runs in the fullest job.
int runs_in_one_job(std::size_t runs, int pack) {
  return static_cast<int>(
      std::clamp<std::size_t>(runs, 1, static_cast<std::size_t>(std::max(pack, 1))));
}

/// Returns the jobs for the runs of one job; they may have to run in sequence.
std::vector<spec::BatchStep> packed_steps(const std::vector<spec::PlannedStage>& stages,
                                          int pack,
                                          const spec::Site& site,
                                          const spec::SchedulerDescription& scheduler) {
  std::vector<spec::BatchStep> steps = steps_at(stages, site, scheduler);
  for (spec::BatchStep& step : steps) {
    if (step.resources.time)
      step.resources.time = std::min(*step.resources.time * pack, base::longest_duration);
  }
  return steps;
}

}  // namespace

planning::RunRequest at_site(planning::RunRequest request, const spec::Site& site) {
  planning::Placement& placement = request.placement;
  placement.site = site.name;
  placement.scheduler = site.scheduler;
  if (request.variant.empty()) request.variant = site.variant;
  if (!placement.variables) placement.variables.emplace();
  placement.variables->insert(site.variables.begin(), site.variables.end());
  // The ranks of a job get what the job asks for.
  for (spec::Stage& stage : request.recipe.stages)
    stage.resources = resources_at(site, stage.resources);
  return request;
}

std::vector<spec::BatchStep> jobs_for(const planning::RunRequest& request,
                                      const std::vector<spec::StudyPoint>& points,
                                      int pack,
                                      const spec::Site& site,
                                      const spec::SchedulerDescription& scheduler) {
  std::set<std::map<std::string, std::string>> settings = planning::settings_of(points);
  if (points.empty()) settings.insert(request.set);
  planning::RunRequest one = request;
  std::vector<spec::PlannedStage> stages;
  for (const auto& set : settings) {
    one.set = set;
    const std::vector<spec::PlannedStage> its = planning::RecipePreparer::dry_run(one).stages;
    if (stages.empty()) stages = its;
    join_due(stages, its);
  }
  std::vector<spec::BatchStep> steps =
      packed_steps(stages, runs_in_one_job(points.size(), pack), site, scheduler);
  for (const spec::BatchStep& step : steps)
    launch::check_submission_options(scheduler, site, step.resources);
  return steps;
}

void check_at_once(std::size_t runs,
                   int pack,
                   const spec::Site& site,
                   launch::Scheduler& scheduler,
                   const std::stop_token& stop) {
  const spec::SchedulerDescription& description = scheduler.description();
  if (description.knows("at_once") && description.knows("after_any")) return;
  const std::size_t most = runs_in_one_array(site, scheduler, pack, stop);
  BatchThrottle(description, site, tasks_of(runs, pack), tasks_of(most, pack));
}

std::string submit_run(const planning::PreparedRecipe& prepared,
                       const SubmitTools& tools,
                       const std::stop_token& stop) {
  jobs_for(prepared.request, {}, 1, tools.site, tools.scheduler.description());
  planning::RunRequest request = at_site(prepared.request, tools.site);
  request.placement.batch = "jobs/1";
  const spec::RunPlan planned = tools.preparer.plan(prepared, request, stop);
  const home::BatchFiles files = home::make_batch(tools.folders.runs() / planned.run_id);
  spec::BatchPlan plan = batch_of(planned.run_id, tools);
  for (const auto& [name, value] : *request.placement.variables)
    plan.site.variables[name] = value;
  plan.runs = {planned.run_id};
  plan.steps = packed_steps(planned.stages, 1, tools.site, tools.scheduler.description());
  hand_in(files, plan, tools, "'sabath run' makes a new one", stop);
  return planned.run_id;
}

std::vector<std::string> submit_points(const home::StudyFiles& files,
                                       const spec::StudyPlan& study,
                                       const std::vector<std::size_t>& points,
                                       const planning::PreparedRecipe& prepared,
                                       const SubmitTools& tools,
                                       const std::stop_token& stop) {
  const int pack = study.pack.value_or(1);
  jobs_for(prepared.request, study.points, pack, tools.site, tools.scheduler.description());
  const std::size_t most = runs_in_one_array(tools.site, tools.scheduler, pack, stop);
  BatchThrottle turns(tools.scheduler.description(),
                      tools.site,
                      tasks_of(points.size(), pack),
                      tasks_of(most, pack));
  std::vector<std::string> ids;
  for (std::size_t first = 0; first < points.size(); first += most) {
    const std::size_t last = std::min(points.size(), first + most);
    const home::BatchFiles batch = home::make_batch(files.directory());
    const std::string number = batch.directory().filename().string();
    spec::BatchPlan plan = batch_of(study.study_id + "." + number, tools);
    plan.pack = pack;
    plan.after = turns.next(number);
    planning::RunRequest request = at_site(prepared.request, tools.site);
    request.study.id = study.study_id;
    request.placement.batch = "../../studies/" + study.study_id + "/jobs/" + number;
    request.study.durability = base::Durability::ordered_only;
    std::vector<home::StudyFiles::Run> runs;
    std::vector<spec::PlannedStage> stages;
    const auto plan_one = [&](std::size_t i) {
      request.set = study.points[points[i]].set;
      request.seed = study.points[points[i]].seed;
      request.study.point = points[i];
      const spec::RunPlan planned = tools.preparer.plan(prepared, request, stop);
      if (stages.empty()) {
        stages = planned.stages;
        request.study.sibling = planning::OriginalCode{
            planned.code_state.value_or(spec::CodeState{}), tools.folders.runs() / planned.run_id};
      } else {
        join_due(stages, planned.stages);
      }
      runs.push_back({points[i], planned.run_id});
      plan.runs.push_back(planned.run_id);
      tools.observer.progress(
          {"planning runs", i + 1, points.size(), false, i + 1 == points.size()});
    };
    try {
      for (std::size_t i = first; i < last; ++i)
        plan_one(i);
    } catch (const base::Error& error) {
      files.add_runs(runs);
      close_refused(plan, "it was not handed in: " + std::string(error.what()), tools.clock);
      throw;
    }
    base::sync_file_system(tools.folders.runs());  // nothing is handed in that a power cut can lose
    plan.steps = packed_steps(
        stages, runs_in_one_job(last - first, pack), tools.site, tools.scheduler.description());
    files.add_runs(runs);  // before it is handed in: no run of the study is ever unknown to it
    hand_in(
        batch, plan, tools, "run 'sabath run --resume " + study.study_id + "' to continue", stop);
    ids.insert(ids.end(), plan.runs.begin(), plan.runs.end());
  }
  return ids;
}

}  // namespace sabath::batch

#include <sabath/batch/submit_batch.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/program_bundle.hpp>

#include <algorithm>

namespace sabath::batch {
namespace {

/// Files to and from a node that does not see ours.
void move_files(const home::BatchFiles& files,
                const spec::BatchPlan& plan,
                const std::filesystem::path& program,
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
                        const launch::Scheduler& scheduler,
                        const std::filesystem::path& program) {
  launch::BatchJob job;
  job.name = plan.batch_id;
  job.comment = comment_of(plan, step);
  job.script = files.script(step);
  job.log = files.log(step);
  job.argv = {"exec", "--batch", files.directory().string()};
  if (scheduler.description().moves_files()) move_files(files, plan, program, job);
  job.argv.insert(job.argv.begin(),
                  plan.site.program.empty() ? program.string() : plan.site.program);
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
    return std::filesystem::exists(earlier.ended() / run, code);
  };
  if (!jobs || jobs->jobs.empty() || std::ranges::all_of(its.runs, has_ended)) return;
  job.after_any = jobs->jobs.back();
  job.after_any_is_array = its.is_array();
}

}  // namespace

std::string comment_of(const spec::BatchPlan& plan, std::size_t step) {
  const std::string word = launch::job_word(plan.batch_id);
  return plan.steps.size() == 1 ? word : word + "-" + std::to_string(step);
}

std::string never_handed_in(const spec::BatchPlan& plan, std::size_t known) {
  const std::size_t all = plan.steps.size();
  if (known + 1 == all) return "step " + std::to_string(all) + " was never handed in";
  return "steps " + std::to_string(known + 1) + " to " + std::to_string(all) +
         " were never handed in";
}

spec::BatchJobs submit_batch(const home::BatchFiles& files,
                             const spec::BatchPlan& plan,
                             launch::Scheduler& scheduler,
                             const std::filesystem::path& program,
                             base::Clock& clock,
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
    launch::BatchJob job = job_of(files, plan, step, scheduler, program);
    if (jobs.jobs.empty()) {
      wait_for_earlier(files, plan, job);
    } else {
      job.after = jobs.jobs.back();
    }
    jobs.jobs.push_back(scheduler.submit(job, stop));
    jobs.submitted = base::format_rfc3339(clock.now());
    files.write_jobs(jobs);
  }
  // A process that cancelled the batch did not know of the last job.
  if (plan.steps.size() > 1 && is_cancelled()) scheduler.cancel(jobs.jobs, stop);
  return jobs;
}

}  // namespace sabath::batch

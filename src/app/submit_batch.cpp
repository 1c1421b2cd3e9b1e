#include <sabath/app/submit_batch.hpp>

namespace sabath::app {
namespace {

launch::BatchJob job_of(const BatchFiles& files,
                        const spec::BatchPlan& plan,
                        std::size_t step,
                        const std::filesystem::path& program) {
  launch::BatchJob job;
  job.name = plan.batch_id;
  job.comment = comment_of(plan, step);
  job.script = files.script(step);
  job.log = files.log(step);
  job.argv = {plan.site.program.empty() ? program.string() : plan.site.program,
              "exec",
              "--batch",
              files.directory().string(),
              "--task",
              "{task}"};
  if (plan.steps.size() > 1) job.argv.insert(job.argv.end(), {"--step", std::to_string(step)});
  job.tasks = plan.is_array() ? plan.tasks() : 0;
  job.resources = plan.steps.at(step - 1).resources;
  return job;
}

}  // namespace

std::string comment_of(const spec::BatchPlan& plan, std::size_t step) {
  return plan.steps.size() == 1 ? plan.batch_id : plan.batch_id + "/" + std::to_string(step);
}

spec::BatchJobs submit_batch(const BatchFiles& files,
                             const spec::BatchPlan& plan,
                             launch::Scheduler& scheduler,
                             const std::filesystem::path& program,
                             bool look_first,
                             base::Clock& clock,
                             const std::stop_token& stop) {
  spec::BatchJobs jobs = files.read_jobs().value_or(spec::BatchJobs{});
  while (jobs.jobs.size() < plan.steps.size()) {
    const std::size_t step = jobs.jobs.size() + 1;
    std::optional<std::string> id;
    if (look_first) id = scheduler.find(comment_of(plan, step), stop);
    if (!id) {
      launch::BatchJob job = job_of(files, plan, step, program);
      if (!jobs.jobs.empty()) job.after = jobs.jobs.back();
      id = scheduler.submit(job, stop);
    }
    jobs.jobs.push_back(*id);
    jobs.submitted = base::format_rfc3339(clock.now());
    files.write_jobs(jobs);
  }
  return jobs;
}

}  // namespace sabath::app

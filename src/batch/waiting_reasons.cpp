#include <sabath/batch/job_reasons.hpp>
#include <sabath/batch/waiting_reasons.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/spec/batch.hpp>

namespace sabath::batch {

std::map<std::string, WaitingReason> waiting_reasons(const std::filesystem::path& batch,
                                                     const std::vector<std::string>& run_ids,
                                                     const MonitorOf& monitor_of,
                                                     const std::stop_token& stop) {
  const home::BatchFiles files(batch);
  const spec::BatchPlan plan = files.read_plan();
  const auto jobs = files.read_jobs();
  std::map<std::string, WaitingReason> reasons;
  if (!jobs) return reasons;
  SchedulerMonitor& monitor = monitor_of(plan.site);
  std::map<std::string, std::vector<std::string>> tasks_of;
  std::vector<std::string> all;
  for (const std::string& run : run_ids) {
    std::vector<std::string>& tasks = tasks_of[run];
    for (const std::string& job : jobs->jobs)
      tasks.push_back(plan.is_array() ? monitor.scheduler().task_id(job, plan.task_of(run)) : job);
    all.insert(all.end(), tasks.begin(), tasks.end());
  }
  const auto views = monitor.views(all, stop);
  for (const auto& [run, tasks] : tasks_of) {
    for (const std::string& task : tasks) {
      const auto found = views.find(task);
      if (found == views.end()) break;
      const launch::JobView& view = found->second.view;
      // Steps that are over say nothing of the one that waits.
      if (view.phase == spec::JobPhase::done || view.phase == spec::JobPhase::unknown) continue;
      if (view.phase == spec::JobPhase::pending) {
        const std::string text = view.text();
        reasons[run] = {text, is_stuck(monitor.scheduler().description(), text)};
      }
      break;
    }
  }
  return reasons;
}

}  // namespace sabath::batch

#include <sabath/base/text/regex.hpp>
#include <sabath/batch/job_reasons.hpp>

namespace sabath::batch {

using spec::JobPhase;
using spec::RunState;

bool is_stuck(const spec::SchedulerDescription& scheduler, const std::string& reason) {
  return !scheduler.stuck.empty() &&
         base::Regex(scheduler.stuck).search(reason) == base::Regex::Outcome::found;
}

RunState state_after(JobPhase phase) {
  switch (phase) {
    case JobPhase::cancelled:
    case JobPhase::preempted:
      return RunState::interrupted;
    case JobPhase::timed_out:
    case JobPhase::out_of_memory:
    case JobPhase::failed:
      return RunState::failed;
    default:
      return RunState::lost;
  }
}

std::string why_after(const launch::JobView& view) {
  switch (view.phase) {
    case JobPhase::cancelled:
      return "its job was cancelled: " + view.text();
    case JobPhase::timed_out:
      return "its job ran out of time: " + view.text();
    case JobPhase::out_of_memory:
      return "its job ran out of memory: " + view.text();
    case JobPhase::node_failed:
      return "its node failed: " + view.text();
    case JobPhase::preempted:
      return "its job had to make way for another: " + view.text();
    case JobPhase::failed:
      return "its job failed: " + view.text();
    default:
      return "its job ended without a record: " + view.text();
  }
}

}  // namespace sabath::batch

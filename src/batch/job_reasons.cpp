#include <sabath/base/text/regex.hpp>
#include <sabath/batch/job_reasons.hpp>

#include <algorithm>
#include <array>

namespace sabath::batch {
namespace {

using spec::JobPhase;
using spec::RunState;

/// What a job that ended so is for its run.
struct JobEnd {
  JobPhase phase{};
  RunState state{};
  std::string_view words{};
};
constexpr std::array<JobEnd, 7> ends{
    {{JobPhase::cancelled, RunState::interrupted, "its job was cancelled: "},
     {JobPhase::timed_out, RunState::failed, "its job ran out of time: "},
     {JobPhase::out_of_memory, RunState::failed, "its job ran out of memory: "},
     {JobPhase::node_failed, RunState::lost, "its node failed: "},
     {JobPhase::preempted, RunState::interrupted, "its job had to make way for another: "},
     {JobPhase::failed, RunState::failed, "its job failed: "},
     {JobPhase::unknown, RunState::lost, "its job ended without a record: "}}};

const JobEnd& end_of(JobPhase phase) {
  const auto found = std::ranges::find(ends, phase, &JobEnd::phase);
  return found == ends.end() ? ends.back() : *found;
}

}  // namespace

bool is_stuck(const spec::SchedulerDescription& scheduler, const std::string& reason) {
  return !scheduler.stuck.empty() &&
         base::Regex(scheduler.stuck).search(reason) == base::Regex::Outcome::found;
}

RunState state_after(JobPhase phase) {
  return end_of(phase).state;
}

std::string why_after(const launch::JobView& view) {
  return std::string(end_of(view.phase).words) + view.text();
}

}  // namespace sabath::batch

#include "admission.hpp"

namespace sabath::execution {
namespace {

using spec::RunState;
using spec::RunStatus;

/// The scheduler ended the job of the status and started the same job again.
bool is_requeued(const RunStatus& status,
                 const std::optional<spec::JobStart>& job,
                 bool is_counted) {
  return status.job && job && status.job->id == job->id &&
         (!is_counted || status.job->restarts < job->restarts);
}

}  // namespace

Admission admit(const RunStatus& status,
                base::Liveness liveness,
                const std::optional<spec::JobStart>& job,
                bool is_counted) {
  using Answer = Admission::Answer;
  if (status.state == RunState::planned) return {Answer::first, {}};
  const bool is_own = is_requeued(status, job, is_counted);
  if (spec::is_final(status.state)) {
    if (is_own && liveness != base::Liveness::running) return {Answer::again, {}};
    return {Answer::never, "this run is finished already"};
  }
  const std::string executor =
      "as process " + std::to_string(status.pid) + " on " + status.node +
      (status.job ? ", by job " + status.job->id + " of the scheduler" : "");
  if (liveness == base::Liveness::running)
    return {Answer::not_now, "this run is being executed already, " + executor};
  if (liveness == base::Liveness::gone || is_own) return {Answer::again, {}};
  return {Answer::not_now, "this run may still be executed, " + executor};
}

}  // namespace sabath::execution

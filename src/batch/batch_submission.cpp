#include "batch_submission.hpp"

#include <sabath/base/process/process_identity.hpp>
#include <sabath/batch/batch_steps.hpp>
#include <sabath/batch/cancel_runs.hpp>
#include <sabath/home/run_files.hpp>

#include <algorithm>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;

/// Longest time a submission takes. The submitting process may be on another machine, where it
/// cannot be seen.
constexpr std::chrono::minutes long_submission{15};
constexpr std::chrono::seconds pause_of_searches{10};

}  // namespace

BatchSubmission::Answer BatchSubmission::look(const std::vector<fs::path>& runs,
                                              bool has_begun,
                                              const std::stop_token& stop) {
  if (!lacks_jobs() || !problem_.empty()) return Answer::known;
  jobs_ = files_.read_jobs();
  if (!lacks_jobs()) return Answer::known;
  if (searched_ && clock_.steady() - *searched_ < pause_of_searches) return Answer::known;
  searched_ = clock_.steady();
  const Submitter state = submitter(runs.front());
  // Once a run has begun, the scheduler has its job; that says nothing of later steps.
  const bool is_looked_for = !jobs_ && has_begun;
  if (state == Submitter::running || (state == Submitter::may_be_running && !is_looked_for))
    return jobs_ ? Answer::known : Answer::in_progress;
  return search(state, runs, stop);
}

BatchSubmission::Submitter BatchSubmission::submitter(const fs::path& first) const {
  auto process = files_.submitter();
  if (!process) process = base::ProcessIdentity::parse(home::RunFiles(first).read_status().process);
  const auto liveness = process ? base::liveness_of(*process) : base::Liveness::unknown;
  if (liveness == base::Liveness::running) return Submitter::running;
  const auto last = base::parse_rfc3339(jobs_ ? jobs_->submitted : plan_.created);
  const bool lately = clock_.now() - last.value_or(base::WallTime{}) < long_submission;
  return liveness == base::Liveness::unknown && lately ? Submitter::may_be_running
                                                       : Submitter::gone;
}

/// Nobody wrote down that the scheduler accepted all of the batch. It may have done so.
BatchSubmission::Answer BatchSubmission::search(Submitter state,
                                                const std::vector<fs::path>& runs,
                                                const std::stop_token& stop) {
  while (lacks_jobs()) {
    spec::BatchJobs jobs = jobs_.value_or(spec::BatchJobs{});
    const auto search = monitor_.find(comment_of(plan_, jobs.jobs.size() + 1), stop);
    if (!search.was_made) return Answer::known;
    const auto job = search.job || jobs_ ? search.job : job_on_node(runs);
    if (!job) {
      if (state == Submitter::may_be_running) return jobs_ ? Answer::known : Answer::in_progress;
      // The submitting process may have written it down and ended since it was read.
      const auto written = files_.read_jobs();
      if (!written || written->jobs.size() <= jobs.jobs.size()) return give_up(stop);
      jobs_ = written;
      continue;
    }
    jobs.jobs.push_back(*job);
    jobs.submitted = base::format_rfc3339(clock_.now());
    // Where there are several steps it may know more by now, and write that.
    if (state == Submitter::gone || plan_.steps.size() == 1) files_.write_jobs(jobs);
    jobs_ = std::move(jobs);
  }
  return Answer::known;
}

/// Returns the job that a run of a single-job batch recorded. Schedulers forget jobs that ended,
/// and not every scheduler can search.
std::optional<std::string> BatchSubmission::job_on_node(const std::vector<fs::path>& runs) const {
  if (plan_.steps.size() > 1 || plan_.is_array()) return std::nullopt;
  for (const fs::path& run : runs) {
    const auto job = home::RunFiles(run).read_status().job;
    if (job) return job->id;
  }
  return std::nullopt;
}

/// The scheduler lacks jobs of the batch and gets no more.
BatchSubmission::Answer BatchSubmission::give_up(const std::stop_token& stop) {
  if (!jobs_) return Answer::given_up;
  problem_ = never_handed_in(plan_, jobs_->jobs.size());
  const bool was_ended =
      std::ranges::all_of(plan_.runs, [&](const auto& run) { return files_.is_cancelled(run); });
  if (was_ended) return Answer::known;
  end_runs({files_,
            plan_,
            monitor_.scheduler(),
            jobs_->jobs,
            {plan_.runs.begin(), plan_.runs.end()},
            problem_ + ": the submitting process ended before that"},
           clock_,
           stop);
  monitor_.forget();
  return Answer::known;
}

}  // namespace sabath::batch

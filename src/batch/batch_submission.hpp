#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/spec/batch.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// The scheduler's jobs of a batch, as far as they are submitted. Looks for jobs that the
/// submitting process did not write down before it ended.
class BatchSubmission {
 public:
  BatchSubmission(const home::BatchFiles& files,
                  const spec::BatchPlan& plan,
                  SchedulerMonitor& monitor,
                  base::Clock& clock)
      : files_(files), plan_(plan), monitor_(monitor), clock_(clock) {}

  const std::optional<spec::BatchJobs>& jobs() const { return jobs_; }
  bool lacks_jobs() const { return !jobs_ || jobs_->jobs.size() < plan_.steps.size(); }
  /// Returns why later steps are never submitted; empty: nothing is known of that.
  const std::string& problem() const { return problem_; }

  enum class Answer { known, in_progress, given_up };
  /// Reads the jobs, and looks for those that are missing. `runs` are the directories of the
  /// batch's runs; `has_begun`: one of them has begun. `in_progress`: no job is known yet.
  /// `given_up`: the scheduler has no job of the batch and gets none.
  Answer look(const std::vector<std::filesystem::path>& runs,
              bool has_begun,
              const std::stop_token& stop);

 private:
  enum class Submitter { running, may_be_running, gone };
  Submitter submitter(const std::filesystem::path& first) const;
  std::optional<std::string> job_on_node(const std::vector<std::filesystem::path>& runs) const;
  Answer search(Submitter state,
                const std::vector<std::filesystem::path>& runs,
                const std::stop_token& stop);
  Answer give_up(const std::stop_token& stop);

  const home::BatchFiles& files_;
  const spec::BatchPlan& plan_;
  SchedulerMonitor& monitor_;
  base::Clock& clock_;
  std::optional<spec::BatchJobs> jobs_{};
  std::optional<base::SteadyTime> searched_{};
  std::string problem_{};
};

}  // namespace sabath::batch

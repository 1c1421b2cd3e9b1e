#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/launch/batch_job.hpp>
#include <sabath/spec/site.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::launch {

class SchedulerTools;

/// Turns `text` into a job name that every scheduler accepts: a letter first, then letters, digits,
/// '-' and '_' (sge_types(1), qsub(1B) of OpenPBS). Other characters become '-'.
std::string job_word(std::string_view text);

/// Checks that a submission requests each of `resources` from the scheduler. Throws Error{usage}
/// that says what to add to the site's document or to the description.
void check_submission_options(const spec::SchedulerDescription& scheduler,
                              const spec::Site& site,
                              const spec::Resources& resources);

/// The scheduler rejected the submission: the job does not exist. After any other error of a
/// submission the job may exist.
class Refusal final : public base::Error {
 public:
  using Error::Error;
};

/// A scheduler, driven by its description. Each submission carries the site's request and options.
/// Variables of the caller that hold options of the scheduler's tools are not passed on.
/// Thread safety: one thread at a time.
class Scheduler {
 public:
  /// Finds the tools on the PATH of `environment`. Waits `first_pause` between the first two tries
  /// of a submission, then twice as long each time.
  Scheduler(spec::SchedulerDescription description,
            spec::Site site,
            base::ProcessRunner& processes,
            const base::Environment& environment = base::current_environment(),
            std::chrono::milliseconds first_pause = std::chrono::seconds(1));

  const spec::SchedulerDescription& description() const noexcept;

  /// Writes the script and submits it. A tool that gives no answer may have submitted the job, so
  /// the job is searched by its comment before the submission fails. Returns the job's id. Throws
  /// Refusal with the scheduler's message, Error{usage} for values that the scheduler cannot
  /// express, Error{launch|interrupted|storage}.
  std::string submit(const BatchJob& job, const std::stop_token& stop);
  std::string task_id(const std::string& job, std::size_t task) const;
  /// Asks for all tasks at once. Returns a view for each id, `unknown` for tasks that the scheduler
  /// does not know. Throws Error{launch} where the scheduler cannot be asked.
  std::map<std::string, JobView> poll(const std::vector<std::string>& tasks,
                                      const std::stop_token& stop);
  /// Ends jobs or tasks, with SIGTERM first. Ids that do not exist any more are ignored. Throws
  /// Error{launch}.
  void cancel(const std::vector<std::string>& ids, const std::stop_token& stop);
  /// Returns the newest job with this comment that is queued, runs or ended lately.
  std::optional<std::string> find(const std::string& comment, const std::stop_token& stop);
  /// Returns the accounting of the tasks that have ended. A running task is left out: its numbers
  /// are not final.
  Accounting accounting(const std::vector<std::string>& tasks, const std::stop_token& stop);
  /// Returns the scheduler's limit of tasks in one array; nothing where it is unknown.
  std::optional<std::size_t> largest_array(const std::stop_token& stop);

 private:
  std::optional<std::string> search(const BatchJob& job,
                                    std::chrono::milliseconds& pause,
                                    const std::stop_token& stop);

  std::shared_ptr<const SchedulerTools> tools_;
  std::chrono::milliseconds first_pause_;
};

}  // namespace sabath::launch

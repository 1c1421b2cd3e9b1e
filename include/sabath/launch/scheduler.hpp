#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::launch {

struct Acceptance;

/// One job, or one array of them.
struct BatchJob {
  std::string name{};              ///< for people: what the queue shows
  std::string comment{};           ///< what `find` finds it by
  std::filesystem::path script{};  ///< where the job script is written and kept
  std::filesystem::path log{};     ///< of the job; "-{task}", its end, is the task's index
  /// "{task}" in it becomes what the scheduler calls the index of the task (1 where it is none).
  std::vector<std::string> argv{};
  std::size_t tasks = 0;  ///< of an array, with indices from 1; 0: a single job
  spec::Resources resources{};
  /// Files and folders that go to the job, and folders that come back, where it sees no file of
  /// ours; "{task}" in an output is the task's index. The job's script makes the outputs.
  std::vector<std::filesystem::path> inputs{};
  std::vector<std::filesystem::path> outputs{};
  /// The job whose end with success this one waits for, task by task; empty: none.
  std::string after{};
  /// The job, or the array, that has to be over first, however it ended; empty: none.
  std::string after_any{};
  bool after_any_is_array = false;
};

using JobPhase = spec::JobPhase;

/// What the scheduler says of one task.
struct JobView {
  JobPhase phase = JobPhase::unknown;
  std::string state{};   ///< its own word, or what people read instead
  std::string reason{};  ///< why it waits, or ended; empty: it does not say
  /// Nobody could be asked about it, and `reason` says why.
  bool is_unheard = false;

  /// For people.
  std::string text() const;
  bool operator==(const JobView&) const = default;
};

/// The scheduler's own accounting of a task that ended. Absent: it does not say.
struct JobUse {
  std::optional<double> elapsed_s{};
  std::optional<std::uint64_t> max_rss_bytes{};
  std::optional<double> energy_j{};
  std::string nodes{};  ///< as the scheduler writes them

  bool operator==(const JobUse&) const = default;
};

/// What a scheduler accounts for.
struct Accounting {
  std::map<std::string, JobUse> uses{};  ///< by the id of the task; only of those that have ended
  bool is_absent = false;                ///< there is none here
};

/// `text` as every scheduler takes it for a job's name: a letter first, then letters, digits, '-'
/// and '_' (sge_types(1), qsub(1B) of OpenPBS). Other characters become '-'.
std::string job_word(std::string_view text);

/// Throws Error{usage}, with what the site's document or the description must say, where jobs of
/// the site that want `resources` would not ask the scheduler for each of them.
void check_asked_for(const spec::SchedulerDescription& scheduler,
                     const spec::Site& site,
                     const spec::Resources& resources);

/// A scheduler said no: there is no such job. Any other error of a submission leaves open whether
/// there is one.
class Refusal final : public base::Error {
 public:
  using Error::Error;
};

/// A scheduler, driven as its description says. The site's request and options go into each
/// submission; variables of the caller by which the scheduler's tools take options do not.
class Scheduler {
 public:
  /// The scheduler's tools are called with what of `environment` they need, by PATH. Between two
  /// tries of a submission passes `first_pause`, then twice as long each time.
  Scheduler(spec::SchedulerDescription description,
            spec::Site site,
            base::ProcessRunner& processes,
            const base::Environment& environment = base::current_environment(),
            std::chrono::milliseconds first_pause = std::chrono::seconds(1));

  const spec::SchedulerDescription& description() const noexcept { return description_; }

  /// Writes the script, and returns the job's id when it was accepted. Where the tool gives no
  /// answer, the job is looked for by its comment before this gives up. Throws Refusal with what
  /// the scheduler said, Error{usage} for what it cannot be told,
  /// Error{launch|interrupted|storage}.
  std::string submit(const BatchJob& job, const std::stop_token& stop);
  /// The id of one task of an array.
  std::string task_id(const std::string& job, std::size_t task) const;
  /// One question for all tasks, by their ids; those that the scheduler does not know are
  /// `unknown`. Throws Error{launch} when it could not be asked: then nothing is known, and
  /// nothing has changed.
  std::map<std::string, JobView> poll(const std::vector<std::string>& tasks,
                                      const std::stop_token& stop);
  /// Asks to end jobs or tasks, SIGTERM first; one that is gone is no error. Throws Error{launch}.
  void cancel(const std::vector<std::string>& ids, const std::stop_token& stop);
  /// The newest job with this comment that has not ended, or ended lately.
  std::optional<std::string> find(const std::string& comment, const std::stop_token& stop);
  /// Of tasks that ended, as far as the scheduler accounts for them. Of one that still goes on
  /// there is nothing yet: what it has used so far is not what it will have used.
  Accounting accounting(const std::vector<std::string>& tasks, const std::stop_token& stop);
  /// Tasks in one array, as the scheduler says; nothing: it does not.
  std::optional<std::size_t> largest_array(const std::stop_token& stop);

 private:
  struct Answer;
  void take_back_misled(const Acceptance& job,
                        const std::string& place,
                        const std::stop_token& stop) const;
  void end_jobs(const std::vector<std::string>& ids,
                const std::map<std::string, std::string>& values,
                const std::stop_token& stop) const;
  base::ProcessResult call(const std::vector<std::string>& command,
                           const std::filesystem::path& input,
                           const std::stop_token& stop) const;
  base::ProcessResult hand_in(const std::vector<std::string>& argv,
                              const std::filesystem::path& input,
                              bool is_first,
                              const std::stop_token& stop) const;
  Answer ask(const spec::SchedulerQuestion& question,
             const std::vector<std::string>& ids,
             const std::string& comment,
             const std::stop_token& stop) const;
  std::optional<std::string> search(const BatchJob& job,
                                    std::chrono::milliseconds& pause,
                                    const std::stop_token& stop);

  spec::SchedulerDescription description_;
  spec::Site site_;
  base::ProcessRunner& processes_;
  base::Environment environment_;
  std::chrono::milliseconds first_pause_;
};

}  // namespace sabath::launch

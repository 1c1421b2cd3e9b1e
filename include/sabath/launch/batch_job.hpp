#pragma once

#include <sabath/spec/recipe.hpp>
#include <sabath/spec/scheduler.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::launch {

/// One job, or one array of jobs, to submit to a scheduler.
struct BatchJob {
  std::string name{};              ///< shown to people in the queue.
  std::string comment{};           ///< Key of Scheduler::find.
  std::filesystem::path script{};  ///< Place of the job script.
  std::filesystem::path log{};     ///< log of the job; "-{task}" at its end is the task's index
  /// Command of the job. "{task}" becomes the scheduler's index of the task, 1 for a single job.
  std::vector<std::string> argv{};
  std::size_t tasks = 0;  ///< size of the array, with indices from 1; 0: a single job
  spec::Resources resources{};
  /// Files and folders to transfer where the job sees no shared file system. The job's script makes
  /// the outputs; "{task}" in an output is the task's index.
  std::vector<std::filesystem::path> inputs{};
  std::vector<std::filesystem::path> outputs{};
  /// Job that must succeed first, task by task; empty: none.
  std::string after{};
  /// Job or array that must end first, with any outcome; empty: none.
  std::string after_any{};
  bool after_any_is_array = false;
};

using JobPhase = spec::JobPhase;

/// State of one task according to the scheduler.
struct JobView {
  JobPhase phase = JobPhase::unknown;
  std::string state{};   ///< the scheduler's word, or a plain word for it
  std::string reason{};  ///< why the task waits or ended; empty: unknown
  /// The scheduler could not be asked about the task; `reason` says why.
  bool is_unheard = false;

  /// For people.
  std::string text() const;
  bool operator==(const JobView&) const = default;
};

/// The scheduler's accounting of a task that ended. Absent values are unknown.
struct JobUse {
  std::optional<double> elapsed_s{};
  std::optional<std::uint64_t> max_rss_bytes{};
  std::optional<double> energy_j{};
  std::string nodes{};  ///< in the scheduler's notation

  bool operator==(const JobUse&) const = default;
};

/// Accounting of several tasks.
struct Accounting {
  std::map<std::string, JobUse> uses{};  ///< by task id; only tasks that have ended
  bool is_absent = false;                ///< the scheduler keeps no accounting here
};

}  // namespace sabath::launch

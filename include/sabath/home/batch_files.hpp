#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/spec/batch.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sabath::home {

/// The files of one batch: jobs/<n>/ in the folder of a run or of a study (docs/formats/batch.md).
/// - `batch.json`: what it is. It is written before anything is submitted.
/// - `submitter`: the submitting process.
/// - `submitted.json`: the scheduler's ids. It is written after each submission.
/// - `job-<step>.sh`: the job scripts.
/// - `started/`: an empty file for each attempt of a run. The node makes it.
/// - `ended/`: an empty file for each run. The node makes it.
/// - `cancelled/`: an empty file for each run whose job was to be ended.
class BatchFiles {
 public:
  explicit BatchFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path script(std::size_t step) const;
  /// Log of the job; with "{task}" for the index.
  std::filesystem::path log(std::size_t step) const;
  std::filesystem::path log_of(std::size_t step, std::size_t task) const;
  std::filesystem::path started() const { return directory_ / "started"; }
  std::filesystem::path ended() const { return directory_ / "ended"; }

  bool is_written() const;
  /// In a home that was copied or moved, the plan names the runs of the present home.
  spec::BatchPlan read_plan() const;
  /// Folder of the runs that the jobs execute, where this batch is a copy. Nothing: it is none.
  std::optional<std::filesystem::path> original_runs() const;
  void write_plan(const spec::BatchPlan& plan) const;
  /// Nothing before the first submission was accepted.
  std::optional<spec::BatchJobs> read_jobs() const;
  void write_jobs(const spec::BatchJobs& jobs) const;
  /// Notes this process as the submitter. Throws Error{storage}.
  void note_submitter() const;
  /// Nothing before the submission begins, and for batches of earlier versions.
  std::optional<base::ProcessIdentity> submitter() const;

  /// Notes that a run begins its attempt, or has ended. Ignores failures: then others notice it
  /// later.
  void note_started(std::string_view run_id, int attempt) const noexcept;
  void note_ended(std::string_view run_id) const noexcept;
  /// Notes that the run is to be cancelled, before the scheduler is asked. Throws Error{storage}.
  void note_cancelled(std::string_view run_id) const;
  void forget_cancelled(std::string_view run_id) const noexcept;
  bool is_cancelled(std::string_view run_id) const noexcept;

 private:
  std::filesystem::path directory_;
};

/// Remembers which batches are written; checks each once.
class WrittenBatches {
 public:
  bool operator()(const std::filesystem::path& directory);

 private:
  std::map<std::filesystem::path, bool> known_{};
};

/// Makes the next folder jobs/<n> in that of a run or a study.
BatchFiles make_batch(const std::filesystem::path& parent);

}  // namespace sabath::home

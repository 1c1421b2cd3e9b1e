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
///   batch.json        what it is, written before anything is submitted
///   submitter         the process that hands it in
///   submitted.json    the scheduler's ids, written after each submission
///   job-<step>.sh     the job scripts
///   started/ ended/   a file without content for each run's attempt and each run, made by the
///   nodes
///   cancelled/        one for each run whose job was to be ended
class BatchFiles {
 public:
  explicit BatchFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path script(std::size_t step) const;
  /// Of the job; with "{task}" for the index.
  std::filesystem::path log(std::size_t step) const;
  std::filesystem::path log_of(std::size_t step, std::size_t task) const;
  std::filesystem::path started() const { return directory_ / "started"; }
  std::filesystem::path ended() const { return directory_ / "ended"; }

  bool is_written() const;
  spec::BatchPlan read_plan() const;
  void write_plan(const spec::BatchPlan& plan) const;
  /// Nothing before the first submission was accepted.
  std::optional<spec::BatchJobs> read_jobs() const;
  void write_jobs(const spec::BatchJobs& jobs) const;
  /// That this process hands it in. Throws Error{storage}.
  void tell_submitter() const;
  /// Nothing before somebody begins, and of batches of earlier versions.
  std::optional<base::ProcessIdentity> submitter() const;

  /// Says that a run begins its attempt, or has ended. A failure is none of the run's: it is only
  /// noticed later.
  void tell_started(std::string_view run_id, int attempt) const noexcept;
  void tell_ended(std::string_view run_id) const noexcept;
  /// Says that the run is to end, before the scheduler is asked for it. Throws Error{storage}.
  void tell_cancelled(std::string_view run_id) const;
  void forget_cancelled(std::string_view run_id) const noexcept;
  bool is_cancelled(std::string_view run_id) const noexcept;

 private:
  std::filesystem::path directory_;
};

/// Which batches are written down; each is looked at once.
class WrittenBatches {
 public:
  bool operator()(const std::filesystem::path& directory);

 private:
  std::map<std::filesystem::path, bool> known_{};
};

/// Makes the next folder jobs/<n> in that of a run or a study.
BatchFiles make_batch(const std::filesystem::path& parent);

/// All batches of a run or a study that were begun, in their order.
std::vector<BatchFiles> batches_in(const std::filesystem::path& parent);

}  // namespace sabath::home

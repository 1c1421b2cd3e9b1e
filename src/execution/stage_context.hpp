#pragma once

#include "keep_outputs.hpp"
#include "record/run_software.hpp"
#include "stage_reads.hpp"
#include "stop/run_stop.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/mask_secrets.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/env/prefix_image.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/provenance/code_watch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/stage_record.hpp>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// A stage after it ran, was reused or was skipped.
struct StageResult {
  spec::StageRecord record{};
  std::vector<spec::OutputRecord> outputs{};
  std::uint64_t masked = 0;  ///< known secrets in its logs

  bool ok() const { return record.state == "ok" || record.state == "reused"; }
};

/// What a stage of one attempt of one plan runs with.
struct StageContext {
  base::ProcessRunner& processes;
  cache::Cache& cache;
  base::Clock& clock;
  base::Observer& observer;
  const base::KnownSecrets& secrets;  ///< that logs must not show
  RunSoftware& software;
  OutputStamps& stamps;
  provenance::CodeWatch& code;
  std::filesystem::path program{};        ///< this sabath
  std::vector<env::LocalPrefix> local{};  ///< used instead of prefixes
  /// Throws where others could change what is run.
  std::shared_future<void> trust{};
  std::filesystem::path control_group{};  ///< of the commands; may be empty
  std::string prefix{};                   ///< of parallel stages, as the site wants it
  std::filesystem::path scratch{};        ///< for work directories; empty: beside the logs
  /// Of stdout and of stderr; 0: no limit.
  std::uint64_t largest_log = 0;
  std::chrono::nanoseconds grace{};  ///< of stages without one
  int nodes = 1;                     ///< of the job
  const spec::RunPlan& plan;
  home::RunFiles files;
  int attempt = 1;
  RunStop* run_stop = nullptr;  ///< nullptr: nothing stops it

  /// Returns the directory of a stage's logs and metrics.
  std::filesystem::path directory(const std::string& stage) const {
    return files.attempt(attempt) / stage;
  }
};

/// A stage and the number of its try.
struct StageTry {
  const spec::PlannedStage& stage;
  const std::optional<spec::ResourceSlots>& slots;
  const MadeOutputs& made;
  std::stop_token stop{};
  int number = 1;
  std::optional<planning::ParallelPrefix> prefix{};
};

}  // namespace sabath::execution

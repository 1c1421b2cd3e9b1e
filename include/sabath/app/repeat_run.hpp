#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/planning/plan_run.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::app {

struct RepeatTools {
  base::ProcessRunner& processes;
  base::Observer& observer;
  std::stop_token stop{};
};

/// What does a finished run again: the recipe and code of then, the same parameters, variant and
/// seed, inputs of the same digests, no cached stage, as many cores and GPUs, and the variables
/// that choose among ways to compute. The code is put into `folder`, which exists, is empty, and
/// stays as long as the run goes on: what the run kept, else the commit with its diff out of the
/// user's repository; else the recipe's folder of today is used, if it is what it was then. Throws
/// Error{not_found} where the run has no record or its code is gone, Error{integrity} where only
/// other code is there.
planning::RunRequest repeat_run(const std::filesystem::path& run_directory,
                                const std::filesystem::path& folder,
                                const RepeatTools& tools);

}  // namespace sabath::app

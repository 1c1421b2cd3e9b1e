#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/planning/restore_run.hpp>

#include <filesystem>
#include <stop_token>

namespace sabath::app {

/// Returns the request that repeats a finished run. It has the recipe and code of that run, the
/// same parameters, variant and seed, and inputs of the same digests. It has no cached stage, as
/// many cores and GPUs, and the same tuning variables. Puts the code into `folder`, which exists,
/// is empty, and stays until the run ends (see planning::restore_code). Throws Error{not_found}
/// where the run has no record or no code any more, Error{integrity} where its code is changed.
planning::RunRequest repeat_run(const std::filesystem::path& run_directory,
                                const std::filesystem::path& folder,
                                const planning::RestoreTools& tools);

}  // namespace sabath::app

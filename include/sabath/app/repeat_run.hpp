#pragma once

#include <sabath/app/plan_run.hpp>
#include <sabath/base/observer.hpp>

#include <filesystem>

namespace sabath::app {

/// What does a finished run again: the recipe and code of then, the same parameters, variant and
/// seed, inputs of the same digests, and no cached stage. The code is unpacked into `folder`, which
/// exists, is empty, and stays as long as the run goes on; where the run did not keep it, the
/// recipe's folder of today is used, and `observer` is told. Throws Error{not_found} where the run
/// has no record or its code is gone, Error{integrity} where what was kept of it was changed.
RunRequest repeat_run(const std::filesystem::path& run_directory,
                      const std::filesystem::path& folder,
                      base::Observer& observer);

}  // namespace sabath::app

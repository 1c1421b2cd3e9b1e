#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/planning/run_request.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>

namespace sabath::planning {

struct RepeatTools {
  base::ProcessRunner& processes;
  base::Observer& observer;
  std::stop_token stop{};
  base::Trust trust{};  ///< whose runs are executed besides one's own
};

/// Returns the request that repeats a finished run. It has the recipe and code of that run, the
/// same parameters, variant and seed, and inputs of the same digests. It has no cached stage, as
/// many cores and GPUs, and the same tuning variables. Puts the code into `folder`, which exists,
/// is empty, and stays until the run ends. Throws Error{not_found}
/// where the run has no record or no code any more, Error{integrity} where its code is changed.
/// Throws Error{access} where its folder belongs to a user who is not trusted.
RunRequest repeat_run(const std::filesystem::path& run_directory,
                      const std::filesystem::path& folder,
                      const RepeatTools& tools);

/// The command of a run without a recipe, by its plan; nothing: the run has one.
std::optional<spec::DirectCommand> direct_command(const spec::RunPlan& plan);

}  // namespace sabath::planning

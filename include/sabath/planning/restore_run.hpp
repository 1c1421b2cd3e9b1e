#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/run_request.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::planning {

struct RestoreTools {
  base::ProcessRunner& processes;
  base::Observer& observer;
  std::stop_token stop{};
};

/// Puts the code of a finished run into `folder`, which is empty: what the run kept, else the
/// commit with its diff from the user's repository. Else uses the recipe's folder of today, if it
/// is what it was then. Returns the recipe's folder. Throws Error{not_found} where the code is
/// gone, and Error{integrity} where only other code is there.
std::filesystem::path restore_code(const home::RunFiles& files,
                                   const spec::RunRecord& record,
                                   const spec::Recipe& recipe,
                                   const std::filesystem::path& folder,
                                   const RestoreTools& tools);

/// Warns of code that no run keeps, and that has changed since the run.
void warn_of_other_code(const spec::RunPlan& plan,
                        const RunRequest& request,
                        const RestoreTools& tools);

/// Returns a part of this machine with as many cores and GPUs as the run had to itself. Returns
/// nothing where it had all of them; and with a warning where there are fewer here.
std::optional<spec::ResourceSlots> slots_like(const spec::RunRecord& record,
                                              const RestoreTools& tools);

/// Returns the variables that choose among ways to compute and lead to code, as the run had them.
std::optional<std::map<std::string, std::string>> variables_of(const spec::RunRecord& record,
                                                               const RestoreTools& tools);

}  // namespace sabath::planning

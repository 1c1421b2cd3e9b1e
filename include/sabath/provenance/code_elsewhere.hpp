#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <map>
#include <stop_token>
#include <string>

namespace sabath::provenance {

/// In which state code is that a run finds elsewhere than by its recipe's folder: by absolute paths
/// in commands, the recipe's variables and parameters, or by a PYTHONPATH of `session`, the recipe
/// or a layer. "repository NAME" -> the commit, and " + DIGEST" of what differs from it, untracked
/// sources too; without git "folder NAME" -> the digest of its sources. By names alone, as the same
/// clone lies elsewhere for each user. `plan` has its stages. Nothing is looked at where no such
/// path is there, and none that cannot be looked at makes it fail. Throws Error{interrupted}.
std::map<std::string, std::string> code_elsewhere(const spec::Recipe& recipe,
                                                  const spec::RunPlan& plan,
                                                  const base::Environment& session,
                                                  base::ProcessRunner& processes,
                                                  const std::stop_token& stop);

/// Whether there is any to look at. Starts no process.
bool leads_elsewhere(const spec::Recipe& recipe,
                     const spec::RunPlan& plan,
                     const base::Environment& session);

}  // namespace sabath::provenance

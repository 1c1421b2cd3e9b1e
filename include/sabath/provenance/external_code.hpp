#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <map>
#include <stop_token>
#include <string>

namespace sabath::provenance {

/// State of code outside of the recipe's folder that a run uses. Such code is named by an absolute
/// path in commands, variables or parameters, or by a PYTHONPATH of `session`, recipe or layer.
/// Returns "repository NAME" -> the commit, with " + DIGEST" of differences and untracked sources;
/// without git "folder NAME" -> the digest of its sources. Names leave out the path, which differs
/// for each user. `plan` has its stages. Skips what cannot be read. Throws Error{interrupted}.
std::map<std::string, std::string> external_code(const spec::Recipe& recipe,
                                                 const spec::RunPlan& plan,
                                                 const base::Environment& session,
                                                 base::ProcessRunner& processes,
                                                 const std::stop_token& stop);

/// Whether the run uses such code. Starts no process.
bool has_external_code(const spec::Recipe& recipe,
                       const spec::RunPlan& plan,
                       const base::Environment& session);

}  // namespace sabath::provenance

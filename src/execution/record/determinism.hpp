#pragma once

#include "collect_stages.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/software.hpp>

#include <map>
#include <string>

namespace sabath::execution {

/// name -> stage -> value
using StageValues = std::map<std::string, std::map<std::string, std::string>>;

/// Returns values by name where at least `stages` stages agree, else as "NAME in stage STAGE" for
/// each stage. Secrets are redacted.
std::map<std::string, std::string> summarize_by_stage(const StageValues& values,
                                                      std::size_t stages);

/// Returns what was set for the stages of a run, by sabath and in `environment` (that of `exec`),
/// and what the code reported. `threads`: what libraries would use. Secrets are redacted.
spec::Determinism determinism_of(const spec::RunPlan& plan,
                                 const spec::Recipe& recipe,
                                 const base::Environment& environment,
                                 const CollectedStages& collected,
                                 const std::map<std::string, std::string>& threads);

/// Returns what can make runs of one program differ and stands in no other facet. These are
/// switches and numbers of threads that were set, the order of data, and seeds other than the run's
/// own.
spec::Facet determinism_facet(const spec::Determinism& determinism,
                              const spec::RunPlan& plan,
                              const std::map<std::string, std::string>& threads);

}  // namespace sabath::execution

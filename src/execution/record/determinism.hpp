#pragma once

#include "collect_stages.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <map>
#include <string>
#include <string_view>

namespace sabath::execution {

/// name -> stage -> value
using StageValues = std::map<std::string, std::map<std::string, std::string>>;

/// By name what is the same in so many stages at least, else as "NAME in stage STAGE" for each of
/// them. Secrets are redacted.
std::map<std::string, std::string> told_by_stage(const StageValues& values, std::size_t stages);

/// What was set for the stages of a run, by sabath and in `environment` (that of `exec`), and what
/// the code told. `threads`: what libraries would use. Secrets are redacted.
spec::Determinism determinism_of(const spec::RunPlan& plan,
                                 const spec::Recipe& recipe,
                                 const base::Environment& environment,
                                 const CollectedStages& collected,
                                 const std::map<std::string, std::string>& threads);

/// What of it can make runs of one program differ and stands in no other facet: the switches and
/// numbers of threads that were set, the order of data, and the seeds that are not the run's own.
spec::Facet determinism_facet(const spec::Determinism& determinism,
                              const spec::RunPlan& plan,
                              const std::map<std::string, std::string>& threads);

}  // namespace sabath::execution

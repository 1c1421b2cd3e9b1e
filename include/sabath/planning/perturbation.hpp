#pragma once

#include <sabath/planning/plan_run.hpp>

#include <string>

namespace sabath::planning {

/// The parameter that a recipe has whose code can be perturbed in this way ("1ulp"): a whole number
/// of which 0, the default, is no perturbation, and each other is one of its own.
std::string perturbation_parameter(const std::string& kind);

/// How `repeat` perturbed runs of `request` are asked for: values of that parameter from 1 on.
/// Throws Error{usage} for an unknown kind, a recipe without the parameter, one that is not a whole
/// number with the default 0, one that is set already, and a request without a seed: perturbed runs
/// say something only of a reference with the same one.
spec::ValueLists perturbed_runs(const RunRequest& request, const std::string& kind, int repeat);

}  // namespace sabath::planning

#pragma once

#include <sabath/planning/run_request.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/study.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::planning {

/// Returns the runs of a study in their order: the parameters by name (the last one changes
/// fastest), then the tuples of `zip`, then seeds, then repetitions. `set` are further parameters
/// of all points. `seed` is that of all runs where the study has no seeds. Checks parameters as for
/// one run. Throws Error{usage} for a parameter that is set and swept, equal points, an exclusion
/// without effect, no points, or more than most_study_runs.
std::vector<spec::StudyPoint> expand_study(const spec::Recipe& recipe,
                                           const spec::Study& study,
                                           const std::map<std::string, std::string>& set,
                                           std::optional<std::uint64_t> seed);

/// Returns what points set, each once.
std::set<std::map<std::string, std::string>> settings_of(
    const std::vector<spec::StudyPoint>& points);

std::vector<std::string> varied_parameters(const std::vector<spec::StudyPoint>& points);

/// Returns "hidden=16 seed=1", which tells points apart for people; empty where nothing does.
std::string point_text(const spec::StudyPoint& point, const std::vector<std::string>& varied);

/// Returns the parameter of recipes whose code can be perturbed in this way ("1ulp"): a whole
/// number. 0, the default, means unperturbed; each other value is a perturbation of its own.
std::string perturbation_parameter(const std::string& kind);

/// Returns how `repeat` perturbed runs of `request` are requested: values of that parameter from 1
/// on. Throws Error{usage} for an unknown kind, and for a recipe without such a parameter. The same
/// holds for another type or default, and for a parameter that is set already. A request without a
/// seed is refused too: perturbed runs need a reference with the same seed.
spec::ValueLists perturbed_runs(const RunRequest& request, const std::string& kind, int repeat);

}  // namespace sabath::planning

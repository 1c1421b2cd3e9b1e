#pragma once

#include <sabath/spec/recipe.hpp>
#include <sabath/spec/study.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::planning {

/// The runs of a study in their order: the parameters by name, of which the last changes fastest,
/// then the tuples of `zip`, then seeds, then repetitions. `set` are further parameters for all
/// points, `seed` is that of all runs where the study has no seeds of its own. Parameters are
/// checked as for one run. Throws Error{usage}: a parameter is set and swept, two points are the
/// same, an exclusion excludes nothing, nothing remains, or there are more than most_study_runs.
std::vector<spec::StudyPoint> expand_study(const spec::Recipe& recipe,
                                           const spec::Study& study,
                                           const std::map<std::string, std::string>& set,
                                           std::optional<std::uint64_t> seed);

/// What points set, each once.
std::set<std::map<std::string, std::string>> settings_of(
    const std::vector<spec::StudyPoint>& points);

/// The parameters that differ between points.
std::vector<std::string> varied_parameters(const std::vector<spec::StudyPoint>& points);

/// "hidden=16 seed=1", as people tell points apart; empty where nothing tells.
std::string point_text(const spec::StudyPoint& point, const std::vector<std::string>& varied);

}  // namespace sabath::planning

#pragma once

#include <sabath/compare/facet_differences.hpp>

#include <set>
#include <string>
#include <vector>

namespace sabath::compare {

/// What a difference bears on; the first that a pair shows decides what kind of repetition it is.
enum class Bearing {
  result,       ///< recipe, data, or a parameter that affects the result
  environment,  ///< or a parameter that affects the execution
  code,
  host,  ///< host, user, launch, libraries of the system, variables of the session
  seed,
  nothing,  ///< what the code may not use: variables of the session, files that were opened
};

Bearing bearing_of(const spec::FacetDifference& difference,
                   const spec::RunRecord& a,
                   const spec::RunRecord& b);

/// statistics.md, "The pair": `different` where a difference bears on the result.
spec::Repetition repetition_of(const std::vector<spec::FacetDifference>& differences,
                               const spec::RunRecord& a,
                               const spec::RunRecord& b);

/// The differences that make a pair not comparable: those that bear on the result and that `across`
/// does not name ("recipe", "data", "parameters", or a parameter's name).
std::vector<spec::FacetDifference> forbidden_differences(
    const std::vector<spec::FacetDifference>& differences,
    const spec::RunRecord& a,
    const spec::RunRecord& b,
    const std::set<std::string>& across);

}  // namespace sabath::compare

#pragma once

#include <sabath/compare/session_differences.hpp>

#include <set>
#include <string>
#include <vector>

namespace sabath::compare {

/// What a difference affects. The first that a pair shows decides the kind of repetition.
enum class Bearing {
  result,       ///< recipe, data, or a parameter that affects the result
  environment,  ///< or a parameter that affects the execution
  code,
  host,  ///< host, user, launch, libraries of the system, variables of the session
  seed,
  nothing,  ///< what the code may ignore: session variables, opened files
};

Bearing bearing_of(const spec::FacetDifference& difference,
                   const spec::RunRecord& a,
                   const spec::RunRecord& b);

/// Kind of repetition (docs/commands/compare.md); `different` where a difference affects the
/// result.
spec::Repetition repetition_of(const std::vector<spec::FacetDifference>& differences,
                               const spec::RunRecord& a,
                               const spec::RunRecord& b);

/// Differences that make a pair not comparable: they affect the result, and `across` does not name
/// them ("recipe", "data", "parameters", or a parameter's name).
std::vector<spec::FacetDifference> forbidden_differences(
    const std::vector<spec::FacetDifference>& differences,
    const spec::RunRecord& a,
    const spec::RunRecord& b,
    const std::set<std::string>& across);

}  // namespace sabath::compare

#pragma once

#include <sabath/catalog/catalog.hpp>
#include <sabath/compare/rcp.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

/// Checks MLPerf's reference convergence points: A are the references, B is the submission. Exactly
/// one metric has a target. Epochs to converge are those of the first point that reaches it (steps,
/// where the code reports no epochs). The batch size is the parameter `global_batch_size`,
/// `batch_size` or `batch`, of the run or as reported by the code. The number of runs of B is taken
/// as the number that the benchmark demands.
///
/// Throws Error{usage} without such a metric or batch size, and where runs have different ones.
/// Also where the runs of B have several batch sizes, for fewer than three runs of B, and for a
/// reference that did not converge.
spec::RcpFinding rcp_of_sides(const std::vector<catalog::RunRow>& a,
                              const std::vector<catalog::RunRow>& b,
                              compare::RcpReading reading);

/// Name of the batch size parameter of these runs, from the first that has one.
std::optional<std::string> batch_parameter_of(const std::vector<catalog::RunRow>& runs);

}  // namespace sabath::analysis

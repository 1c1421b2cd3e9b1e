#pragma once

#include <sabath/catalog/catalog.hpp>
#include <sabath/compare/rcp.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

/// MLPerf's reference convergence points: A are the references, B is the submission. Epochs to
/// converge are those of the first point that reaches the target of the one metric that has one
/// (steps, where the code tells no epochs); the batch size is the parameter `global_batch_size`,
/// `batch_size` or `batch`, of the run or as the code reported it. The number of runs of B is taken
/// for what the benchmark asks for. Throws Error{usage} where there is no such metric or batch
/// size, where the runs have other ones of either, where the runs of B have several batch sizes,
/// for fewer than three runs of B, and for a reference that did not converge.
spec::RcpFinding rcp_of_sides(const std::vector<catalog::RunRow>& a,
                              const std::vector<catalog::RunRow>& b,
                              compare::RcpReading reading);

/// The parameter that is the batch size of these runs, by the first that has one.
std::optional<std::string> batch_parameter_of(const std::vector<catalog::RunRow>& runs);

}  // namespace sabath::analysis

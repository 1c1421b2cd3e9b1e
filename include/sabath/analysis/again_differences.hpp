#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <string>
#include <vector>

namespace sabath::analysis {

/// Returns in words what differs between a run and its repetition: first the files that it opened
/// and that are missing or changed now, then the other `differences`. Empty: nothing known.
std::string again_differences(const spec::RunRecord& run,
                              const spec::RunRecord& again,
                              const std::vector<spec::FacetDifference>& differences);

}  // namespace sabath::analysis

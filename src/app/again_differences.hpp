#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <string>
#include <vector>

namespace sabath::app {

/// In words what differs between a run and the same run done again: first the files that it opened
/// and that are not here now or have other content, then the other `differences` of the two. Empty:
/// nothing that is known.
std::string again_differences(const spec::RunRecord& run,
                              const spec::RunRecord& again,
                              const std::vector<spec::FacetDifference>& differences);

}  // namespace sabath::app

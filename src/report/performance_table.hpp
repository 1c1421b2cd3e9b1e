#pragma once

#include <sabath/spec/comparison.hpp>

#include <string>
#include <vector>

namespace sabath::report {

/// The table of PERFORMANCE, and what its ratio means.
std::string performance_table(const std::vector<spec::PerformanceRow>& rows);

}  // namespace sabath::report

#pragma once

#include <sabath/execution/collect_run.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

/// All digits of a run's metrics where doubles have them not. Its series are read only if a value
/// of its summaries is so large. Throws Error{integrity} where they cannot be.
spec::WholeSummaries whole_values_of(const execution::CurrentRecord& run);

/// Puts the digits of one run's value into a column that has one text a run: it stays empty while
/// no run has any.
void set_whole(std::vector<std::string>& column,
               std::size_t runs,
               std::size_t run,
               const std::string& digits);

}  // namespace sabath::analysis

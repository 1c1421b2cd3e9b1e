#pragma once

#include "plots/labelled_lines.hpp"

#include <sabath/spec/run_record.hpp>

namespace sabath::report {

/// What a run used over time, and its energy.
void add_usage(LabelledLines& lines, const spec::RunRecord& record);

}  // namespace sabath::report

#pragma once

#include "report_facts.hpp"

#include <sabath/report/report.hpp>

#include <vector>

namespace sabath::analysis {

/// Reads the runs' series, and draws up the charts of metrics and of what the runs used. Of up to
/// six groups each has a curve of its own. What cannot be read is a note.
void fill_charts(report::Report& report, std::vector<RunFacts>& facts);

}  // namespace sabath::analysis

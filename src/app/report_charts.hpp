#pragma once

#include "report_facts.hpp"

#include <sabath/report/report.hpp>

#include <stop_token>
#include <vector>

namespace sabath::app {

/// Reads the runs' series, and draws up the charts of metrics and of what the runs used. Of up to
/// six groups each has a curve of its own. What cannot be read is a note. Throws
/// Error{interrupted}.
void fill_charts(report::Report& report, std::vector<RunFacts>& facts, const std::stop_token& stop);

}  // namespace sabath::app

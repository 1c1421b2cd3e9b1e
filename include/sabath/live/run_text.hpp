#pragma once

#include <sabath/batch/run_accounting.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/report/course.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::live {

/// What the scheduler that executed a run accounts for it; empty where it accounts nothing.
std::string accounting_text(const std::optional<batch::RunAccounting>& accounting);
/// Courses of the metrics of a run, by "stage/metric". Leaves out what cannot be read.
std::map<std::string, report::Course> courses_of(const execution::CurrentRecord& current);
/// What was said of a run after its end: who and when, in lines.
std::string said_text(const std::vector<home::RunStatement>& said);

}  // namespace sabath::live

#pragma once

#include <sabath/spec/run_record.hpp>

#include <string>

namespace sabath::report {

/// Why the command of a record does not repeat the run in full; empty where it does.
std::string why_not_again(const spec::RunRecord& record);

/// "again: COMMAND" and, where that does not repeat the run, why, and what does. Lines for a
/// terminal.
std::string again_text(const spec::RunRecord& record);

}  // namespace sabath::report

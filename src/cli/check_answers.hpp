#pragma once

#include <sabath/analysis/propose_baseline.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/check_report.hpp>

#include <string>

namespace sabath::cli {

/// The answers of `baseline` and `check` as JSON documents, for --json.
std::string json_answer(const analysis::Proposal& proposal);
std::string json_answer(const spec::Baseline& baseline);
std::string json_answer(const spec::CheckReport& report);

}  // namespace sabath::cli

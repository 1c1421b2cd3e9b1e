#pragma once

#include <sabath/analysis/check_samples.hpp>
#include <sabath/spec/check_report.hpp>

#include <optional>

namespace sabath::analysis {

/// Makes cases without a baseline: compares each run with the first of its seed, by all rungs; a
/// case for each judged metric and output. What cannot be compared is INCONCLUSIVE.
void add_agreement(const SampleGroup& group,
                   std::optional<spec::Rung> require,
                   spec::CheckGroup& checked);

/// A run, and the folder of the run of its seed that it is held against.
struct ReferencedRun {
  const CheckSample* run = nullptr;
  std::string reference_id{};
  std::string reference{};
};

/// Adds a case for each output of the runs, compared with those of their references.
void add_output_agreement(const std::vector<ReferencedRun>& runs,
                          std::optional<spec::Rung> require,
                          spec::CheckGroup& checked);

/// Sets the verdicts of groups and of the whole from their cases. Sorts the cases, the worst first.
void conclude(spec::CheckReport& report);

}  // namespace sabath::analysis

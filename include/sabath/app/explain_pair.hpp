#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/compare/compare_runs.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sabath::app {

/// How hybrids are made and judged, and when to stop.
struct ExplainRequest {
  std::filesystem::path a{};
  std::filesystem::path b{};
  compare::Options options{};  ///< as for `compare`; what differs between A and B may differ
  std::size_t budget = 16;     ///< so many runs are made at most
  bool offline = false;
  /// A change that is added to changes that differ never makes them agree: fewer runs.
  bool assume_monotone = false;
};

/// A run that was made to explain something.
struct MadeRun {
  std::filesystem::path directory{};  ///< empty: it could not even be planned
  std::string problem{};              ///< why it came to no good end; empty: it is complete
};

/// What `explain_pair` needs of the rest.
struct ExplainTools {
  /// As repeat_run: what does a run again, with its code in a folder.
  std::function<planning::RunRequest(const std::filesystem::path& run,
                                     const std::filesystem::path& folder)>
      again{};
  /// Makes a run, until it is over. What cannot be run, or fails, is a value with its problem.
  std::function<MadeRun(const planning::RunRequest& request)> run{};
  /// The newest complete run with a tag, else the newest that failed; nothing where there is none.
  std::function<std::optional<MadeRun>(const std::string& tag)> find{};
  /// Is there still time for another run?
  std::function<bool()> has_time{};
  std::filesystem::path work{};             ///< a folder for the code of runs; exists
  std::filesystem::path state_directory{};  ///< with the key of the home's digests
};

/// Which of the differences between two runs are sufficient for them not to agree: makes runs of A
/// with some of what B had (`candidate_changes`), each once, with a tag by which it is found again,
/// and compares them with A. All minimal sufficient sets are found as `find_sufficient_sets` says.
/// First A itself is done again, and A with all changes: unless the first agrees and the second
/// does not, nothing can be said.
spec::Explanation explain_pair(const ExplainRequest& request,
                               const ExplainTools& tools,
                               base::Observer& observer);

}  // namespace sabath::app

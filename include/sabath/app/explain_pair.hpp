#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/compare/compare_runs.hpp>
#include <sabath/planning/run_request.hpp>
#include <sabath/spec/explanation.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace sabath::app {

/// How hybrids are made and judged, and when to stop.
struct ExplainRequest {
  std::filesystem::path a{};
  std::filesystem::path b{};
  compare::Options options{};  ///< as for `compare`; differences between A and B are allowed
  std::size_t budget = 16;     ///< most runs that are made
  bool offline = false;
  /// Assumes that no change makes runs agree that differ without it: fewer runs.
  bool assume_monotone = false;
};

/// A run that was made for an explanation.
struct MadeRun {
  std::filesystem::path directory{};  ///< empty: it could not be planned
  std::string problem{};              ///< why it did not end well; empty: it is complete
};

/// Functions that `explain_pair` needs.
struct ExplainTools {
  /// As repeat_run: returns what repeats a run, with its code in a folder.
  std::function<planning::RunRequest(const std::filesystem::path& run,
                                     const std::filesystem::path& folder)>
      again{};
  /// Makes a run, and waits for its end. A run that fails, or cannot be made, is a value with its
  /// problem.
  std::function<MadeRun(const planning::RunRequest& request)> run{};
  /// Returns the newest complete run with a tag, else the newest failed one; nothing without one.
  std::function<std::optional<MadeRun>(const std::string& tag)> find{};
  /// Returns true while there is time for another run.
  std::function<bool()> has_time{};
  std::filesystem::path work{};             ///< a folder for the code of runs; exists
  std::filesystem::path state_directory{};  ///< with the key of the home's digests
};

/// Finds which differences between two runs are sufficient for them not to agree. Makes runs of A
/// with some of what B had (`candidate_changes`), each once, with a tag by which it is found again,
/// and compares them with A. Finds all minimal sufficient sets as `find_sufficient_sets` says.
/// First repeats A itself, and A with all changes: unless the first agrees and the second does not,
/// nothing can be said.
spec::Explanation explain_pair(const ExplainRequest& request,
                               const ExplainTools& tools,
                               base::Observer& observer);

}  // namespace sabath::app

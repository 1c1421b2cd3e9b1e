#pragma once

#include <sabath/execution/run_in_flight.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/spec/study.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::analysis {

struct RunStanding {
  spec::RunState state = spec::RunState::planned;
  std::vector<std::string> tags{};
  std::string perturbation{};  ///< the value of its parameter; empty or "0": none
  bool retried = false;        ///< another run of the same study point replaced it
};

/// Whether a run was completed or imported.
bool has_ended_well(spec::RunState state);

/// Why a run does not count; empty: it counts. `hybrids` and `perturbed` say that the command names
/// such runs.
std::string why_not_counted(const RunStanding& run, bool hybrids, bool perturbed);

/// A run, and those that executed what it shows (spec::executed_by); none: nothing is known.
struct Executed {
  std::string run_id{};
  std::set<std::string> by{};
};

/// Sets the reason of runs that count so far, but show the execution of another one. The run that
/// executed counts, else its oldest copy.
void mark_copies(const std::vector<Executed>& runs, std::vector<std::string>& reasons);

struct PointOutcome {
  std::optional<execution::RunOutcome>
      run{};     ///< the first that is ok, else the newest, if it had any
  int runs = 0;  ///< number of its runs
  std::vector<execution::RunOutcome>
      retried{};  ///< those that are not ok, and in whose place `run` is

  /// Adds a run, in the order of start.
  void add(execution::RunOutcome one);
};

struct StudyOutcome {
  spec::StudyPlan plan{};
  std::filesystem::path directory{};
  std::vector<PointOutcome> points{};  ///< in the order of the plan
  bool has_other_driver = false;       ///< another process starts its runs

  std::size_t count(spec::RunState state) const;
  /// Number of points without a run that ended by itself: a further resume runs them.
  std::size_t open() const;
};

/// Whether a point with such a newest run is done, unless failed ones are retried.
inline bool is_settled(spec::RunState state) {
  return state == spec::RunState::ok || state == spec::RunState::failed ||
         state == spec::RunState::stopped;
}

/// Whether a run of a study has a status or a record. One without was interrupted while it was
/// planned, and does not count.
bool is_planned(const std::filesystem::path& run_directory);

/// State of a study, from its files alone.
StudyOutcome look_at_study(const home::StudyFiles& files, const home::Folders& folders);

/// Number of points that have a run. Reads no run.
std::size_t points_with_run(const home::StudyFiles& files, const home::Folders& folders);

/// Ids of PointOutcome::retried of all points. Reads only runs of points that have several.
std::set<std::string> retried_runs(const home::StudyFiles& files, const home::Folders& folders);

/// Why each run of the points does not count (analysis/counted_runs.hpp).
std::vector<std::string> why_not_counted(const StudyOutcome& study);

}  // namespace sabath::analysis

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

/// What became of one point.
struct PointOutcome {
  std::optional<execution::RunOutcome>
      run{};     ///< the first that is ok, else the newest, if it had any
  int runs = 0;  ///< how many it had
  std::vector<execution::RunOutcome>
      retried{};  ///< those that are not ok, and in whose place `run` is

  /// In the order in which they were started.
  void add(execution::RunOutcome one);
};

struct StudyOutcome {
  spec::StudyPlan plan{};
  std::filesystem::path directory{};
  std::vector<PointOutcome> points{};  ///< as many as the plan has
  bool is_in_other_hands = false;      ///< another process starts its runs

  std::size_t count(spec::RunState state) const;
  /// Points without a run that ended by itself: a further resume runs them.
  std::size_t open() const;
};

/// Is a point with such a newest run done, unless failed ones are retried?
inline bool is_settled(spec::RunState state) {
  return state == spec::RunState::ok || state == spec::RunState::failed;
}

/// Whether a run of a study has a status or a record. One without either was cut off while it was
/// planned, and is not a run.
bool is_planned(const std::filesystem::path& run_directory);

/// How a study stands, by its files alone.
StudyOutcome look_at_study(const home::StudyFiles& files, const home::Folders& folders);

/// How many of its points have a run. Reads no run.
std::size_t points_with_run(const home::StudyFiles& files, const home::Folders& folders);

/// The ids of PointOutcome::retried of all points. Looks only at runs of points that have several.
std::set<std::string> retried_runs(const home::StudyFiles& files, const home::Folders& folders);

/// Why each run of the points does not count (analysis/counted_runs.hpp).
std::vector<std::string> why_not_counted(const StudyOutcome& study);

}  // namespace sabath::analysis

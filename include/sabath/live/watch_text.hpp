#pragma once

#include <sabath/batch/watched_run.hpp>
#include <sabath/live/answers.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sabath::live {

/// Follows a reason that does not pass by itself.
inline constexpr const char* stays_so = ", which as a rule does not pass by itself";
/// Rows that are shown of one study, or of other runs.
inline constexpr std::size_t most_rows = 20;

/// "20 runs: 3 ok, 4 running, 12 planned (waits: PENDING (Resources)), 1 not run".
std::string counts_line(const std::vector<batch::WatchedRun>& runs, std::size_t left = 0);
/// The counts of each study, or of some runs "of study X", and of the runs without one, and the
/// runs that somebody should look at. Runs that wait for what usually does not pass by itself come
/// first. All runs with `every`.
std::string watch_text(const std::vector<batch::WatchedRun>& runs,
                       bool every,
                       const WatchedStudies& studies = {});

}  // namespace sabath::live

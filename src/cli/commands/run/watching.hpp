#pragma once

#include "workspace.hpp"

#include <sabath/batch/cancel_runs.hpp>
#include <sabath/batch/run_watch.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/live/answers.hpp>
#include <sabath/live/study_text.hpp>
#include <sabath/live/watch_text.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cli {

/// The runs that words name: studies by their id or its beginning, and selections. No words: all
/// that are not over. Throws Error{not_found|usage}.
std::vector<batch::WatchedRun> runs_to_watch(const std::vector<std::string>& words,
                                             Workspace& workspace);

using live::not_run;
using live::WatchedStudies;
using live::WatchedStudy;

/// The studies that words name. No words: those that another process drives, and those of `runs`.
/// One that cannot be read is a warning.
WatchedStudies studies_to_watch(const std::vector<std::string>& words,
                                const std::vector<batch::WatchedRun>& runs,
                                Workspace& workspace);

/// `runs` of no such study, and all runs of these studies.
std::vector<batch::WatchedRun> with_whole_studies(const std::vector<batch::WatchedRun>& runs,
                                                  const WatchedStudies& studies,
                                                  Workspace& workspace);

std::unique_ptr<batch::RunWatch> watch(std::vector<batch::WatchedRun> runs, Workspace& workspace);

batch::MonitorOf monitor_of(Workspace& workspace);

/// Puts what was seen into the catalog, and beside the records what schedulers account for runs
/// that are over.
void keep_seen(const batch::RunWatch& watch, Workspace& workspace);

enum class WaitEnd { over, timed_out, stopped };

/// Waits until all runs are over, or the time or the user ends it; the runs continue then. Of
/// `studies` it waits for the runs, too, that their processes have still to start.
WaitEnd wait_for(batch::RunWatch& watch,
                 std::optional<std::chrono::nanoseconds> limit,
                 Workspace& workspace,
                 WatchedStudies* studies = nullptr);

/// How a job stood last.
struct AwaitedJob {
  launch::JobView view{};
  /// False for one that nobody could be asked about, too: it may still go on.
  bool has_ended = false;
};

/// Waits for one of the files that a single job makes. Gives up when the job is over without any,
/// and when the time or the user ends it. With `leaves_stuck` also gives up, after the site's
/// grace, on a job that waits for what does not pass by itself.
AwaitedJob await_file(const std::vector<std::filesystem::path>& files,
                      const std::string& job,
                      const spec::Site& site,
                      std::chrono::nanoseconds limit,
                      bool leaves_stuck,
                      Workspace& workspace);
/// Cancels a job that may still go on, and says what became of that, for the end of a sentence.
std::string cancel_job(const std::string& job, const spec::Site& site, Workspace& workspace);

using live::counts_line;
using live::watch_text;

}  // namespace sabath::cli

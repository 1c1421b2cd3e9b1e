#pragma once

#include <sabath/batch/run_watch.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::batch {

/// What a scheduler accounts for one run: accounting.json in its folder, beside the record, which
/// is never changed.
struct RunAccounting {
  std::string scheduler{};
  std::string job{};  ///< of the last step that the run came to
  launch::JobUse use{};
};

/// Nothing where there is none.
std::optional<RunAccounting> read_accounting(const std::filesystem::path& run_directory);

/// Asks for those of the runs that a scheduler executed, that are over, and of which nothing is
/// kept yet; one question for each batch, as seldom as SchedulerDesk::accounting says. Of a run in
/// several steps times and energy are summed. A run that shared its job with others has none. What
/// the scheduler does not tell yet is asked again by a later command.
void keep_accounting(const std::vector<WatchedRun>& runs,
                     const RunWatch::DeskOf& desk_of,
                     base::Observer& observer,
                     const std::stop_token& stop);

}  // namespace sabath::batch

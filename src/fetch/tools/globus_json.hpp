#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// What outlives an interrupted fetch, so that the next one finds the task again. The submission id
/// is noted before anything is submitted: submitting it twice makes one task.
struct GlobusJournal {
  std::string submission_id{};
  std::string task_id{};
  std::string source{};  ///< the URL; another one's journal is of no use
};

std::string to_text(const GlobusJournal& journal);
/// Nothing when it is damaged.
std::optional<GlobusJournal> parse_globus_journal(std::string_view text);

/// `globus task show -F json`.
struct GlobusTask {
  std::string status{};       ///< ACTIVE, INACTIVE, SUCCEEDED, FAILED
  std::string nice_status{};  ///< "Queued", "OK", "PERMISSION_DENIED", ...
  std::string details{};      ///< what it says about that
  std::string fatal{};        ///< why it has failed
  std::uint64_t bytes = 0;
  bool is_paused = false;
};

/// Throws Error{transfer} when `text` is something else.
GlobusTask parse_globus_task(std::string_view text, const std::string& origin);

/// The files of `globus ls --recursive -F json`.
std::vector<ListedFile> parse_globus_listing(std::string_view text, const std::string& origin);

}  // namespace sabath::fetch

#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// Journal of a Globus task, with which the next fetch finds the task after an interruption. The
/// submission id is written before the submission: submitting it twice makes one task.
struct GlobusJournal {
  std::string submission_id{};
  std::string task_id{};
  std::string source{};  ///< the URL that the journal belongs to
};

std::string to_text(const GlobusJournal& journal);
/// Returns nothing when the text is damaged.
std::optional<GlobusJournal> parse_globus_journal(std::string_view text);

/// `globus task show -F json`.
struct GlobusTask {
  std::string status{};       ///< ACTIVE, INACTIVE, SUCCEEDED, FAILED
  std::string nice_status{};  ///< "Queued", "OK", "PERMISSION_DENIED", ...
  std::string details{};      ///< text for the status
  std::string fatal{};        ///< cause of its failure
  std::uint64_t bytes = 0;
  bool is_paused = false;
};

/// Throws Error{transfer} when `text` is something else.
GlobusTask parse_globus_task(std::string_view text, const std::string& origin);

/// Reads the files of `globus ls --recursive -F json`.
std::vector<ListedFile> parse_globus_listing(std::string_view text, const std::string& origin);

struct S3Object {
  std::string key{};
  std::uint64_t size_bytes = 0;
};

/// Reads `aws s3api list-objects-v2 --query Contents[].{k:Key,s:Size} --output json`, which is null
/// for no object. Throws Error{transfer} for any other text.
std::vector<S3Object> parse_s3_listing(std::string_view text, const std::string& origin);

}  // namespace sabath::fetch

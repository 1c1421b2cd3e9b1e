#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <stop_token>
#include <string>

namespace sabath::env {

/// Asks a repository which commit a branch or a tag is now; no `reference` means its HEAD. git
/// works in `work`, an empty folder. Throws Error{environment} where git or the reference is
/// missing, Error{transfer} where the repository does not answer within a minute.
std::string remote_commit(const std::string& url,
                          const std::string& reference,
                          const std::filesystem::path& work,
                          base::ProcessRunner& processes,
                          base::Observer& observer,
                          std::stop_token stop = {});

}  // namespace sabath::env

#pragma once

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/directory.hpp>

namespace sabath::base {

/// As for a path: unpacks an archive into a directory that is open already.
std::vector<ArchiveEntry> extract_archive(const std::filesystem::path& archive,
                                          const Directory& destination,
                                          const ArchiveLimits& limits,
                                          Observer& observer,
                                          std::stop_token stop = {});

}  // namespace sabath::base

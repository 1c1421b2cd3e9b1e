#pragma once

#include <sabath/base/observer.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::sharing {

/// Checks a crate of a run, a zip file or a folder: as an import does, and what its metadata state
/// of its members. Returns notes. Throws Error{integrity} for bytes that are not those of a digest,
/// Error{usage} for all else that is wrong, Error{interrupted}.
std::vector<std::string> validate_crate(const std::filesystem::path& place,
                                        base::Observer& observer,
                                        const std::stop_token& stop);

}  // namespace sabath::sharing

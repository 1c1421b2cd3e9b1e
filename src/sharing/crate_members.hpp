#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::sharing {

/// Members of a crate as they were unpacked, with their digests.
using CrateMembers = std::map<std::string, base::Digest>;

/// The document of a crate of several runs.
inline constexpr const char* group_document = "group.json";

/// Throws Error{integrity} about a damaged crate.
[[noreturn]] void refuse_crate(const std::filesystem::path& place, const std::string& problem);

/// Unpacks a crate, a zip file or a folder, into an empty folder. Throws Error{integrity} for a
/// damaged or hostile one; Error{storage|interrupted}.
CrateMembers unpack_crate(const std::filesystem::path& place,
                          const std::filesystem::path& to,
                          base::Observer& observer,
                          const std::stop_token& stop);

/// Holds each member against the manifest of the unpacked crate. Removes members that it does not
/// name, and returns them. Throws Error{integrity} with the member.
std::vector<std::string> verify_members(const std::filesystem::path& place,
                                        const std::filesystem::path& folder,
                                        CrateMembers members);

}  // namespace sabath::sharing

#pragma once

#include <sabath/base/trust.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::env {

/// Makes a folder that nobody else can write, whatever the umask; false when there is something of
/// that name already. Throws Error{storage|not_found}.
bool make_new_folder(const std::filesystem::path& path);
/// Makes a folder that nobody else can write, whatever the umask, or the group where it may write
/// the one above: as folders of shared caches are. Its parents too where they are missing. One that
/// is there stays as it is. Throws Error{storage}.
void make_own_folder(const std::filesystem::path& path);

/// Makes a finished prefix read-only (0555, 0444) and its bytes durable. Throws Error{storage}.
void seal_prefix(const std::filesystem::path& prefix);

/// Why nothing may be executed from `prefix`: who could write what in it or above it. Looks at
/// every file; nothing when all is well.
std::optional<std::string> why_prefix_untrusted(const std::filesystem::path& prefix,
                                                const base::Trust& trust);

/// Throws Error{environment} with `reason` and the remedy.
[[noreturn]] void refuse_untrusted(const std::string& reason, const std::string& layer_name);
/// The same where `why_prefix_untrusted` has a reason.
void require_trusted(const std::filesystem::path& prefix,
                     const base::Trust& trust,
                     const std::string& layer_name);

}  // namespace sabath::env

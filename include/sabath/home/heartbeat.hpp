#pragma once

#include <chrono>
#include <filesystem>

namespace sabath::home {

/// Interval between two signs that a driver or an executor is alive.
inline constexpr std::chrono::seconds heartbeat_interval(10);
/// Silence after which a process on another machine may be given up as lost. Clients of network
/// file systems see times up to a minute late.
inline constexpr std::chrono::seconds heartbeat_timeout(180);

/// Time since the last write to a file, or to the newest file beneath a folder. Uses the clock of
/// the file system, which may be another machine's: creates and removes a file there. Returns a day
/// for a missing file. Throws Error{storage}.
std::chrono::nanoseconds heartbeat_age(const std::filesystem::path& path);

}  // namespace sabath::home

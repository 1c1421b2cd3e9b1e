#pragma once

#include <chrono>
#include <filesystem>

namespace sabath::home {

/// What goes on is written to so often.
inline constexpr std::chrono::seconds sign_interval(10);
/// After so long without, what may have been lost with its machine may be given up. Clients of
/// network file systems see times up to a minute late.
inline constexpr std::chrono::seconds longest_silence(180);

/// How long ago a file was written to, or the newest one beneath a folder, by the clock of the file
/// system, which may be another machine's: for that a file is made and removed beside it, or in the
/// folder. A whole day where there is no file. Throws Error{storage}.
std::chrono::nanoseconds silence_of(const std::filesystem::path& path);

}  // namespace sabath::home

#pragma once

#include <filesystem>
#include <string_view>

namespace sabath::cli {

/// The log of what sabath did: `folder`/sabath.log, one line an event with time and pid, a few
/// files of a mebibyte kept. It never stops a command: where it cannot be written there is none.
/// Until it is opened nothing is logged.
void open_log(const std::filesystem::path& folder);
void log_event(std::string_view kind, std::string_view text);

}  // namespace sabath::cli

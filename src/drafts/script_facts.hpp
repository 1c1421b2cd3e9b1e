#pragma once

#include <sabath/base/process/process.hpp>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace sabath::drafts {

/// What the active Python says of a script without executing it: an object with "requirements",
/// "unpinned", "unknown", "arguments" and "printed". Throws Error{usage|not_found}.
nlohmann::json script_facts(const std::filesystem::path& script,
                            const std::filesystem::path& folder,
                            base::ProcessRunner& processes,
                            const std::stop_token& stop);

}  // namespace sabath::drafts

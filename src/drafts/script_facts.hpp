#pragma once

#include <sabath/base/process/process.hpp>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string_view>

namespace sabath::drafts {

/// The program in Python that parses a script (script_facts.py).
std::string_view script_facts_program();

/// What the active Python says of a script without executing it: an object with "requirements",
/// "unpinned", "unknown", "arguments" and "printed". Throws Error{usage|not_found}.
nlohmann::json script_facts(const std::filesystem::path& script,
                            const std::filesystem::path& folder,
                            base::ProcessRunner& processes,
                            const std::stop_token& stop);

}  // namespace sabath::drafts

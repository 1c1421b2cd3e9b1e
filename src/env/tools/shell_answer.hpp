#pragma once

#include <sabath/base/process/process.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What a shell script of ours prints: records that end with a NUL, sections of them that end with
/// an empty record. Takes the records of one section from the front of `text`. Nothing where it is
/// cut short.
std::optional<std::vector<std::string>> take_section(std::string_view& text);
/// bash without the user's own files, with the script, whose first argument is the path of `env` as
/// `variables` have it before the script changes them. Throws Error{environment}; `place` begins
/// its message.
std::vector<std::string> bash_with_env(const std::string& script,
                                       const base::Environment& variables,
                                       const std::string& place);
/// Of a section that `env -0` printed.
base::Environment variables_of(const std::vector<std::string>& records);

}  // namespace sabath::env

#pragma once

#include <sabath/base/process.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What a shell script of ours prints: records that end with a NUL, sections of them that end with
/// an empty record. Takes the records of one section from the front of `text`. Nothing where it is
/// cut short.
std::optional<std::vector<std::string>> take_section(std::string_view& text);
/// The path of `env`, as `variables` have it before a script changes them. Throws
/// Error{environment}; `place` begins its message.
std::string find_env(const base::Environment& variables, const std::string& place);
/// Of a section that `env -0` printed.
base::Environment variables_of(const std::vector<std::string>& records);

}  // namespace sabath::env

#pragma once

#include <sabath/base/process.hpp>

#include <map>
#include <string>
#include <string_view>

namespace sabath::app {

/// Replaces what looks like a secret: user:password in URLs, and well-known token forms
/// (docs/formats/record.md lists them).
std::string redact(std::string_view text);

/// The environment variables that can change a result or a time, values redacted; those whose name
/// speaks of a secret are named with their value replaced.
std::map<std::string, std::string> variables_that_matter(const base::Environment& environment);

}  // namespace sabath::app

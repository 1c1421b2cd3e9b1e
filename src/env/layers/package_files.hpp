#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// "apple: apple/core.py was changed after it was installed": of each Python package in a prefix
/// the first file whose bytes are not those that its RECORD names (packaging.python.org, "Recording
/// installed projects"), or that is gone. Only what was touched since `ready`, a file that was
/// written once the prefix was ready, is read.
std::vector<std::string> changed_packages(const std::filesystem::path& prefix,
                                          const std::filesystem::path& ready);

}  // namespace sabath::env

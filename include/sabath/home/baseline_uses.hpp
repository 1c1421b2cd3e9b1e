#pragma once

#include <sabath/spec/baseline.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::home {

/// Remembers in HOME/baselines.jsonl that this home accepted a baseline or checked runs against it.
/// Writes nothing where the file says so already. Throws Error{storage}.
void remember_baseline(const std::filesystem::path& home,
                       const std::filesystem::path& file,
                       const spec::Baseline& baseline,
                       const std::string& at);

/// Returns the runs that remembered baselines name, and the files of these. Of each file its last
/// state counts. Ignores damaged lines.
std::map<std::string, std::vector<std::string>> runs_of_baselines(
    const std::filesystem::path& home);

}  // namespace sabath::home

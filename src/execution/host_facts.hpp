#pragma once

#include <sabath/home/run_files.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <string_view>
#include <vector>

namespace sabath::execution {

/// Returns the mounts of the inputs (or their copies), the run's directory, the cache and the
/// environment's prefixes. `root` is where /proc is found.
std::vector<spec::MountFacts> mounts_of(const spec::RunPlan& plan,
                                        const home::RunFiles& files,
                                        const std::filesystem::path& root);

/// Returns the files of a folder that are called HEAD*.json, sorted.
std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder,
                                                 std::string_view head);
/// Returns the facts of all nodes that wrote theirs in an attempt, by name. Leaves out what cannot
/// be read.
std::vector<spec::HostFacts> hosts_in(const std::filesystem::path& attempt);

}  // namespace sabath::execution

#pragma once

#include <sabath/home/run_files.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <vector>

namespace sabath::execution {

/// Where the inputs (their copies, where there are some), the run's folder, the cache and the
/// prefixes of the environment lie; `root` is where /proc is found.
std::vector<spec::MountFacts> mounts_of(const spec::RunPlan& plan,
                                        const home::RunFiles& files,
                                        const std::filesystem::path& root);

}  // namespace sabath::execution

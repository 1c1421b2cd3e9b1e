#pragma once

#include <sabath/probe/open_watch.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_plan.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <stop_token>
#include <string>

namespace sabath::execution {

/// Returns whether another part of the record names a file of this path: the system, the
/// environment, the recipe, the inputs, the cache, the run itself, or installed packages. `plan`
/// must outlive the result.
std::function<bool(const std::string& path)> known_places(
    const spec::RunPlan& plan, const std::filesystem::path& run_directory);

/// Returns the facet `opened`, of the files as they are now. Without those of `loaded`, and without
/// files written since the watch began, which the run may have made. Notes files that changed after
/// they were opened. Makes digests for as long as `time` allows, small files first.
spec::Facet opened_facet(const probe::SeenOpens& seen,
                         const std::set<std::string>& loaded,
                         const std::filesystem::path& state_directory,
                         std::chrono::nanoseconds time,
                         const std::stop_token& stop);

}  // namespace sabath::execution

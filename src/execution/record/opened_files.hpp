#pragma once

#include <sabath/probe/open_watch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <stop_token>
#include <string>

namespace sabath::execution {

/// Is a file of this path named elsewhere in the record: of the system, the environment, the
/// recipe, the inputs, the cache or the run itself, or of installed packages? `plan` must outlive
/// it.
std::function<bool(const std::string& path)> known_places(
    const spec::RunPlan& plan, const std::filesystem::path& run_directory);

/// The facet `opened`, of the files as they are now. Left out are those of `loaded`, and what was
/// written since the watch began, which the run itself can have made. What was changed after it was
/// opened is noted. Digests are made for as long as `time` allows, small files first.
spec::Facet opened_facet(const probe::SeenOpens& seen,
                         const std::set<std::string>& loaded,
                         const std::filesystem::path& state_directory,
                         std::chrono::nanoseconds time,
                         const std::stop_token& stop);

}  // namespace sabath::execution

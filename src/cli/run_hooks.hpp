#pragma once

#include "fetch_services.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/execution/run_hooks.hpp>
#include <sabath/spec/configuration.hpp>

#include <functional>

namespace sabath::cli {

/// Hooks of config.json, with the secrets that they refer to. `fetching` has these.
execution::HookSettings hook_settings(const spec::Configuration& configuration,
                                      std::function<FetchServices&()> fetching);

/// Fires the hooks of runs that are indexed; empty without hooks.
app::OnNews on_news(execution::HookSettings settings,
                    base::ProcessRunner& processes,
                    base::Observer& observer);

}  // namespace sabath::cli

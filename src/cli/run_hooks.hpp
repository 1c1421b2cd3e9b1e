#pragma once

#include "workspace.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/execution/run_hooks.hpp>

namespace sabath::cli {

/// Hooks of config.json, with the secrets that they refer to.
execution::HookSettings hook_settings(Workspace& workspace);

/// Fires the hooks of runs that are indexed; empty without hooks.
app::OnNews on_news(Workspace& workspace);

}  // namespace sabath::cli

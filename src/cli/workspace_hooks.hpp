#pragma once

#include <sabath/app/index_runs.hpp>
#include <sabath/execution/run_hooks.hpp>

namespace sabath::cli {

class Workspace;

/// The hooks of the configuration. The workspace must outlive them.
execution::HookSettings hook_settings(Workspace& workspace);

/// Fires the hooks of runs that are indexed; empty without hooks.
app::OnNews on_news(Workspace& workspace);

}  // namespace sabath::cli

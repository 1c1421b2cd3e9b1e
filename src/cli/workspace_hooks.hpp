#pragma once

#include "fetch_services.hpp"

#include <sabath/app/index_runs.hpp>

namespace sabath::cli {

/// Fires the hooks of runs that are indexed; empty without hooks. All must outlive it.
app::OnNews fire_on_news(FetchServices& services,
                         base::ProcessRunner& processes,
                         base::Observer& observer);

}  // namespace sabath::cli

#pragma once

#include "fetch_services.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/home/folders.hpp>

#include <functional>
#include <stop_token>

namespace sabath::cli {

/// Fires the hooks of runs that are indexed. Reads the configuration with the first such run: a
/// command that needs none does not fail for it. All arguments must outlive it.
app::OnNews fire_on_news(const home::Folders& folders,
                         std::function<FetchServices&()> services,
                         base::ProcessRunner& processes,
                         base::Observer& observer,
                         std::stop_token stop);

}  // namespace sabath::cli

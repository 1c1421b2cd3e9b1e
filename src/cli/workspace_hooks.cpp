#include "workspace_hooks.hpp"

#include <utility>

namespace sabath::cli {

app::OnNews fire_on_news(FetchServices& services,
                         base::ProcessRunner& processes,
                         base::Observer& observer) {
  execution::HookSettings hooks = services.hooks();
  if (hooks.hooks.empty()) return {};
  return [hooks = std::move(hooks), &processes, &observer](const std::filesystem::path& run) {
    execution::fire_seen(hooks, run, processes, observer);
  };
}

}  // namespace sabath::cli

#include "workspace_hooks.hpp"

#include <sabath/base/error.hpp>

#include <optional>
#include <utility>

namespace sabath::cli {

app::OnNews fire_on_news(const home::Folders& folders,
                         std::function<FetchServices&()> services,
                         base::ProcessRunner& processes,
                         base::Observer& observer,
                         std::stop_token stop) {
  if (folders.configuration.empty()) return {};
  std::optional<execution::HookSettings> hooks;
  return [services = std::move(services), &processes, &observer, stop, hooks = std::move(hooks)](
             const std::filesystem::path& run) mutable {
    try {
      if (!hooks) hooks = services().hooks();
    } catch (const base::Error& error) {
      observer.warn(error.what(), error.hint());
      hooks.emplace();
    }
    hooks->stop = stop;
    if (!hooks->hooks.empty()) execution::fire_seen(*hooks, run, processes, observer);
  };
}

}  // namespace sabath::cli

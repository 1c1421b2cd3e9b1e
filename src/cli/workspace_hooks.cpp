#include "workspace_hooks.hpp"

#include "workspace.hpp"

namespace sabath::cli {

execution::HookSettings hook_settings(Workspace& workspace) {
  return {workspace.configuration().hooks,
          workspace.configuration().sendmail,
          [&workspace](std::string_view scheme, std::string_view host) {
            return workspace.fetching().credentials().for_host(scheme, host);
          }};
}

app::OnNews on_news(Workspace& workspace) {
  if (workspace.configuration().hooks.empty()) return {};
  return [&workspace](const std::filesystem::path& run) {
    execution::fire_seen(
        hook_settings(workspace), run, workspace.processes(), workspace.observer());
  };
}

}  // namespace sabath::cli

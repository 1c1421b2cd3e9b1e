#include "run_hooks.hpp"

namespace sabath::cli {

execution::HookSettings hook_settings(const spec::Configuration& configuration,
                                      std::function<FetchServices&()> fetching) {
  return {configuration.hooks,
          configuration.sendmail,
          [fetching = std::move(fetching)](std::string_view scheme, std::string_view host) {
            return fetching().credentials().for_host(scheme, host);
          }};
}

app::OnNews on_news(execution::HookSettings settings,
                    base::ProcessRunner& processes,
                    base::Observer& observer) {
  if (settings.hooks.empty()) return {};
  return [settings = std::move(settings), &processes, &observer](const std::filesystem::path& run) {
    execution::fire_seen(settings, run, processes, observer);
  };
}

}  // namespace sabath::cli

#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/execution/run_hooks.hpp>
#include <sabath/fetch/credential_store.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/home/sites.hpp>
#include <sabath/spec/configuration.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cli {

/// The fetchers and the logins that they use. Each is made when it is first asked for.
class FetchServices {
 public:
  /// `folder` is that of the configuration; `stop` is called when something that can be stopped is
  /// made. The references must stay valid.
  FetchServices(spec::Configuration configuration,
                std::filesystem::path folder,
                const home::Sites& sites,
                base::ProcessRunner& processes,
                base::Clock& clock,
                std::function<std::stop_token()> stop);

  const std::vector<std::unique_ptr<fetch::Fetcher>>& fetchers();
  /// Before the first use of fetchers(): only the one of that name (empty: all), and at most so
  /// many connections to a host (0: as configured).
  void choose(std::string name, unsigned connections);
  /// Says whether there is a login for a host: of credentials.json or of the user's .netrc.
  std::function<bool(std::string_view scheme, std::string_view host)> login_lookup();

  /// The hooks of the configuration, with secrets by host. It must outlive them.
  execution::HookSettings hooks();
  /// By host, from credentials.json.
  fetch::CredentialStore& credentials();

 private:
  spec::Configuration configuration_;
  std::filesystem::path folder_;
  const home::Sites& sites_;
  base::ProcessRunner& processes_;
  base::Clock& clock_;
  std::function<std::stop_token()> stop_;
  std::unique_ptr<fetch::CredentialStore> credentials_{};
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers_{};
  std::string chosen_{};
};

}  // namespace sabath::cli
